/** Rows of numbers of equal length; NaN is a missing number. A flat array has them one after another. */
export type Rows = ArrayLike<number>[] | { data: Float64Array; columns: number };

/** Two rows, counted from 0, that belong together (must, 1) or do not (cannot, -1). */
export type Link = readonly [i: number, j: number, link: "must" | "cannot" | 1 | -1];

/** The options of a fit; docs/methods and docs/preparing.md of mustlink explain them. */
export interface FitOptions {
  /** A name such as "krca"; "auto", the default, chooses by the links. */
  method?: string;
  /** Such as "rbf:sigma=median"; each method has a default. */
  kernel?: string;
  /** Parameters of the method by name. */
  params?: Record<string, number | string | boolean>;
  /** Fixes all random choices; 1 by default. A whole number >= 0. */
  seed?: number;
  /** Names of the columns, which the model keeps. */
  features?: string[];
  /** "auto" fills and scales columns as they need it, "none" takes the numbers as they are. */
  prepare?: "auto" | "none";
  /** Scale to mean 0 and standard deviation 1, also where "auto" would not. */
  standardize?: boolean;
  tfidf?: boolean;
  kinds?: Record<string, string>;
  impute?: string;
  indicators?: boolean;
  scale?: "auto" | "none" | "standardize" | "robust";
  levels?: number;
  cyclic?: boolean;
  /** Folds of links that are held out to judge the fit; info().verdict has the result. */
  hold_out?: number;
  keep_worse?: boolean;
  /** Rows i and j are nearer to each other than k and l. */
  quadruplets?: [i: number, j: number, k: number, l: number][];
  /** A number for each row, for methods such as "mlkr". */
  targets?: ArrayLike<number>;
}

/** What is known of a model. */
export interface Info {
  method: string;
  kernel: string;
  /** Columns of embed. */
  dim: number;
  /** Columns of rows, -1 for any number. */
  input_dim: number;
  converged: boolean;
  seconds: number;
  notices: string[];
  [name: string]: unknown;
}

/** A learned distance. Its calls fail with an Error that names the row, column or parameter. */
export interface Model {
  /** The coordinates of rows; their Euclidean distance is the learned one, or approximates it. */
  embed(rows: Rows): Promise<Float64Array[]>;
  /** The learned distances of pairs of rows, not squared. */
  distances(rows: Rows, pairs: Iterable<readonly [i: number, j: number]>): Promise<Float64Array>;
  info(): Promise<Info>;
  /** The file of the model, which all other builds of mustlink read. */
  bytes(): Promise<Uint8Array>;
  /** Gives the memory back now, instead of when the model is collected. */
  free(): Promise<void>;
}

/** Learns a model from rows and the links between them. It occupies its thread meanwhile. */
export function fit(rows: Rows, links: Iterable<Link> | null, options?: FitOptions): Promise<Model>;

/** Reads the bytes of a model file of any build of mustlink. */
export function load(bytes: ArrayBuffer | ArrayBufferView): Promise<Model>;

/**
 * Starts the program, once; fit and load do it otherwise. The source is the address or the bytes of
 * mustlink.wasm, by default the file beside this module.
 */
export function init(source?: string | URL | ArrayBuffer | ArrayBufferView): Promise<unknown>;
