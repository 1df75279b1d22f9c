/** Rows of numbers of equal length, NaN if missing; or an array with all of them, row by row. */
export type Rows = ArrayLike<number>[] | { data: Float64Array; columns: number };

/** Two rows, counted from 0, that belong together ("must", 1) or do not ("cannot", -1). */
export type Link = readonly [i: number, j: number, link: "must" | "cannot" | 1 | -1];

/** A method by name ("auto" chooses by the links), and the options of mustlink_fit. */
export interface FitOptions {
  method?: string;
  kernel?: string;
  params?: Record<string, number | string | boolean>;
  /** Fixes all random choices; 1 by default. */
  seed?: number;
  features?: string[];
  /** "auto" fills and scales columns as they need it, "none" takes numbers as they are. */
  prepare?: "auto" | "none";
  standardize?: boolean;
  /** Parts of the linked rows that are held out to judge the fit; info() has the verdict. */
  hold_out?: number;
  /** Rows i and j are nearer to each other than k and l. */
  quadruplets?: [i: number, j: number, k: number, l: number][];
  /** A number for each row, for the method "mlkr". */
  targets?: ArrayLike<number>;
  [name: string]: unknown;
}

/** A learned distance. Calls fail with an Error that names the row, column or parameter. */
export interface Model {
  /** Coordinates of rows. Their Euclidean distance is the learned one, or approximates it. */
  embed(rows: Rows): Promise<Float64Array[]>;
  /** Learned distances of pairs of rows, not squared. */
  distances(rows: Rows, pairs: Iterable<readonly [i: number, j: number]>): Promise<Float64Array>;
  info(): Promise<{ method: string; kernel: string; dim: number; notices: string[]; [name: string]: unknown }>;
  /** The file of the model, for all builds of mustlink. */
  bytes(): Promise<Uint8Array>;
  /** Gives the memory back now, not when the model is collected. */
  free(): Promise<void>;
}

/** Learns a model from rows and links between them. It occupies its thread meanwhile. */
export function fit(rows: Rows, links: Iterable<Link> | null, options?: FitOptions): Promise<Model>;

/** Reads a model file of any build. */
export function load(file: ArrayBuffer | ArrayBufferView): Promise<Model>;

/** Starts the program from the address or the bytes of mustlink.wasm; fit and load do it otherwise. */
export function init(source?: string | URL | ArrayBuffer | ArrayBufferView): Promise<void>;
