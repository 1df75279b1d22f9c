// The page's script. Text goes into the page as textContent only.
(() => {
  const byId = (id) => document.getElementById(id);
  const element = (tag, text, parent) => {
    const e = document.createElement(tag);
    if (text !== undefined) e.textContent = text;
    if (parent) parent.append(e);
    return e;
  };
  const say = { must: "same", cannot: "different", unknown: "cannot say" };
  let rest = []; // answers to give again, once the contradiction before them is settled
  let state = null, busy = false, mode = "pair", group = null, drawn = null, version = -1, shown = "", told = -1, acts = 0;

  // call: a request to the server; the answer is the state, or what was asked for.
  const call = async (path, body) => {
    const options = body === undefined ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
    let reply, data = {};
    try { reply = await fetch(path, options); data = await reply.json(); } catch { data.error = data.error || "the program does not answer: it has ended, or the connection is lost"; }
    const wrong = byId("alert");
    if (data.error || body !== undefined) { wrong.hidden = !data.error; wrong.textContent = data.error || ""; } // it stays until the next action
    if (data.error) throw new Error(data.error);
    return data;
  };
  // act: one request at a time, so that a key pressed twice is one answer.
  const act = async (path, body) => {
    if (busy) return;
    busy = true;
    acts++;
    document.body.setAttribute("aria-busy", "true");
    try {
      let next = await call(path, body);
      if (path === "undo") rest = [];
      if (!next.contradiction && rest.length) { const again = rest; rest = []; next = await call("answer", { replies: again }); }
      show(next);
    } catch { /* the alert has it */ } finally { busy = false; document.body.removeAttribute("aria-busy"); }
  };
  const answer = (word) => {
    const q = state && state.question;
    if (q && byId("settle").hidden) act("answer", { i: q.a.row, j: q.b.row, answer: word });
  };

  // words that the other text does not have, in order: the longest common subsequence of moderate texts, else sets.
  const split = (text) => text.match(/[\p{L}\p{N}]+|\s+|[^\p{L}\p{N}\s]/gu) || [];
  const common = (a, b) => {
    const n = a.length, m = b.length, inA = new Array(n).fill(false), inB = new Array(m).fill(false);
    if (n * m > 4e6) {
      const sa = new Set(a), sb = new Set(b);
      return [a.map((w) => sb.has(w)), b.map((w) => sa.has(w))];
    }
    const t = new Uint16Array((n + 1) * (m + 1));
    for (let i = n - 1; i >= 0; i--) for (let j = m - 1; j >= 0; j--) t[i * (m + 1) + j] = a[i] === b[j] ? t[(i + 1) * (m + 1) + j + 1] + 1 : Math.max(t[(i + 1) * (m + 1) + j], t[i * (m + 1) + j + 1]);
    for (let i = 0, j = 0; i < n && j < m;) {
      if (a[i] === b[j]) { inA[i++] = true; inB[j++] = true; } else if (t[(i + 1) * (m + 1) + j] >= t[i * (m + 1) + j + 1]) i++; else j++;
    }
    return [inA, inB];
  };
  const marked = (box, words, plain) => {
    let run = "", kind = true;
    const flush = () => { if (run) kind ? box.append(run) : element("mark", run, box); run = ""; };
    words.forEach((w, k) => { const p = plain[k] || !w.trim(); if (p !== kind) { flush(); kind = p; } run += w; });
    flush();
  };
  // letters of sequences that lie in a word of four which both have.
  const shared = (a, b) => {
    const k = 4, words = new Set(), out = new Array(a.length).fill(false);
    for (let i = 0; i + k <= b.length; i++) words.add(b.slice(i, i + k));
    for (let i = 0; i + k <= a.length; i++) if (words.has(a.slice(i, i + k))) out.fill(true, i, i + k);
    return out;
  };
  // offset: by how many letters a begins before b when most of their shared words of four are aligned.
  const offset = (a, b) => {
    const k = 4, at = new Map(), count = new Map();
    let best = 0, most = 0;
    for (let j = 0; j + k <= b.length; j++) { const w = b.slice(j, j + k); if (!at.has(w)) at.set(w, []); if (at.get(w).length < 20) at.get(w).push(j); }
    for (let i = 0; i + k <= a.length; i++) for (const j of at.get(a.slice(i, i + k)) || []) {
      const n = (count.get(i - j) || 0) + 1;
      count.set(i - j, n);
      if (n > most) { most = n; best = i - j; }
    }
    return best;
  };
  // sequences: the letters of both, aligned, and whether each is in no shared word.
  const sequences = (a, b) => {
    const d = offset(a, b), pads = [Math.max(0, -d), Math.max(0, d)], apart = [shared(a, b), shared(b, a)];
    return [[a, b].map((t, side) => [..."·".repeat(pads[side]), ...t.split("")]), apart.map((l, side) => [...new Array(pads[side]).fill(true), ...l.map((v) => !v)])];
  };
  const picture = (item, parent) => {
    if (!item.image) return;
    const image = element("img", undefined, parent);
    image.alt = "picture of " + item.name; image.src = "image/" + item.row;
    image.addEventListener("load", () => { if (Math.max(image.naturalWidth, image.naturalHeight) <= 128) image.className = "pixels"; }); // sharp when enlarged
    image.addEventListener("error", () => image.replaceWith(element("p", "The picture cannot be shown.")));
  };

  const long = (c) => c.kind !== "value";
  const pairOf = (q) => {
    const box = byId("items");
    box.replaceChildren();
    const two = element("div", undefined, box);
    two.className = "two";
    const cards = [q.a, q.b].map((item) => {
      const card = element("article", undefined, two);
      card.className = "item";
      element("h3", item.name, card);
      picture(item, card);
      return card;
    });
    q.columns.forEach((c, k) => {
      if (!long(c)) return;
      const texts = [q.a.cells[k], q.b.cells[k]];
      const words = texts.map(split), [letters, apart] = c.kind === "sequence" ? sequences(...texts) : [words, common(...words)];
      cards.forEach((card, side) => {
        const text = element("div", undefined, card);
        text.className = "text " + c.kind;
        text.setAttribute("aria-label", c.name);
        const alike = apart.flat().filter(Boolean).length * 3 >= apart.flat().length; // otherwise all would be marked
        marked(text, letters[side], alike || c.kind === "sequence" ? apart[side] : apart[side].map(() => true));
      });
    });
    const values = q.columns.map((c, k) => [c.name, q.a.cells[k], q.b.cells[k], q.differs[k]]).filter((_, k) => !long(q.columns[k]));
    if (values.length === 0) return;
    two.hidden = cards.every((card) => card.children.length === 1); // the table has the names
    const alike = q.all || !values.some((v) => v[3]) ? 0 : values.filter((v) => !v[3]).length;
    const table = element("table", undefined, box), head = element("tr", undefined, element("thead", undefined, table)), body = element("tbody", undefined, table);
    table.className = "values";
    for (const title of ["", q.a.name, q.b.name]) element("th", title, head).scope = "col";
    for (const [name, a, b, differs] of values) {
      const row = element("tr", undefined, body);
      element("th", name, row).scope = "row";
      if (differs) row.className = "differs";
      else row.hidden = alike > 0;
      for (const cell of [a, b]) element("div", cell, element("td", undefined, row));
    }
    if (alike > 0) {
      const more = element("button", `show ${alike} ${alike === 1 ? "column" : "columns"} that hardly ${alike === 1 ? "differs" : "differ"}`, box);
      more.type = "button"; more.className = "alike";
      more.addEventListener("click", () => { for (const row of body.children) row.hidden = false; more.remove(); });
    }
    if (q.left > 0) element("p", `and ${q.left} more columns, which differ less`, box).className = "note";
  };

  const show = (s) => {
    state = s;
    document.title = s.title + " – mustlink label";
    byId("title").textContent = s.title;
    byId("counts").textContent = `${s.must} same, ${s.cannot} different, ${s.unknown} cannot say; ${s.rows} rows${s.who ? "; you are " + s.who : ""}`;
    const q = s.question;
    const key = q ? q.a.row + "," + q.b.row : "none";
    byId("ask").textContent = q ? `Do ${q.a.name} and ${q.b.name} belong together?` + (q.known ? ` (${q.again ? "Asked again, as the model doubts the answer: " : "The answers so far say: "}${say[q.known]}.)` : "") : "No question is left: all other answers are implied.";
    if (key !== shown) {
      if (q) pairOf(q); else byId("items").replaceChildren();
      shown = key;
    }
    for (const id of ["same", "different", "unknown"]) byId(id).disabled = !q || Boolean(s.contradiction);
    byId("finish").hidden = s.shared;
    contradiction(s.contradiction);
    brings(s.fit);
    if (s.fit.map !== version) { version = s.fit.map; map(); }
    if (s.disagreements !== told) { told = s.disagreements; disagreements(); }
    if (mode === "group" && !s.contradiction) fresh();
  };

  // contradiction: the path that implies the opposite, and the ways out.
  const contradiction = (c) => {
    const box = byId("settle"), path = byId("path"), ways = byId("ways");
    box.hidden = !c;
    path.replaceChildren(); ways.replaceChildren();
    if (!c) return;
    rest = rest.concat(c.rest || []);
    const r = c.reply, first = c.path.length ? c.path[0].from : "row " + r.i, last = c.path.length ? c.path[c.path.length - 1].to : "row " + r.j;
    byId("said-now").textContent = `You say: ${first} and ${last} are ${say[r.answer]}. Earlier answers imply the opposite:`;
    for (const p of c.path) {
      const line = element("li", `${p.from} and ${p.to}: ${say[p.link]}` + (p.who === "(classes)" ? ", by the number of classes" : p.who ? `, said ${p.who}` : "") + (p.when ? `, ${p.when.replace("T", " ").slice(0, 16)}` : "") + (p.line ? ` (line ${p.line})` : "") + (p.removable ? "" : ", which stays"), path);
      if (!p.removable) continue;
      const wrong = element("button", "this one is wrong", line);
      wrong.type = "button";
      wrong.setAttribute("aria-label", `${p.from} and ${p.to}: this answer is wrong, mine holds`);
      wrong.addEventListener("click", () => act("settle", { ...r, remove: [[Math.min(p.i, p.j), Math.max(p.i, p.j)]] }));
    }
    const mine = element("button", "my answer was wrong", ways);
    mine.type = "button";
    mine.addEventListener("click", () => act("settle", r));
    box.focus();
  };

  // The verdict as a curve over answers: the learned metric with its interval, raw beside it.
  const svg = (tag, attributes, parent, text) => {
    const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
    if (text !== undefined) e.textContent = text;
    parent.append(e);
    return e;
  };
  const brings = (f) => {
    byId("brings").hidden = !f.on;
    byId("stop").hidden = !f.stop;
    const c = f.curve, last = c[c.length - 1], box = byId("curve");
    const hint = byId("hint");
    hint.textContent = last ? last.hint : "The verdict on held-out links comes after some answers of both kinds.";
    hint.className = "verdict" + (last && last.finding !== "similar" ? " " + last.finding : "");
    byId("verdict").textContent = last ? `After ${last.answers} answers, by ${f.method}: ${last.text}` : "";
    byId("fit-note").textContent = f.note + (f.running ? (f.note ? " " : "") + "A fit is running." : "");
    if (box.dataset.marks === String(c.length)) return;
    box.dataset.marks = String(c.length);
    box.replaceChildren();
    if (c.length === 0) return;
    const w = 480, h = 180, l = 40, b = 30, most = Math.max(10, last.answers), low = Math.max(0, Math.floor(10 * Math.min(0.5, ...c.map((m) => Math.min(m.raw, m.auc - m.error)))) / 10);
    const x = (m) => l + ((w - l - 10) * m.answers) / most, y = (v) => 10 + ((h - b - 10) * (1 - v)) / (1 - low);
    const root = svg("svg", { viewBox: `0 0 ${w} ${h}`, role: "img", "aria-label": byId("verdict").textContent }, box);
    for (const v of low < 0.5 ? [low, 0.5, 1] : [0.5, 0.75, 1]) { svg("line", { class: "axis", x1: l, x2: w - 10, y1: y(v), y2: y(v) }, root); svg("text", { x: 4, y: y(v) + 4 }, root, String(v)); }
    svg("text", { x: l, y: h - 8 }, root, "0");
    svg("text", { x: w - 10, y: h - 8, "text-anchor": "end" }, root, most + " answers");
    const line = (of) => c.map((m, k) => `${k ? "L" : "M"}${x(m)} ${y(of(m))}`).join("");
    svg("path", { class: "band", d: line((m) => Math.min(1, m.auc + m.error)) + [...c].reverse().map((m) => `L${x(m)} ${y(m.auc - m.error)}`).join("") + "Z" }, root);
    svg("path", { class: "raw", d: line((m) => m.raw) }, root);
    svg("path", { class: "line", d: line((m) => m.auc) }, root);
    for (const m of c) svg("circle", { cx: x(m), cy: y(m.auc), r: 2.5, fill: "currentColor" }, root);
    svg("text", { x: w - 10, y: 24, "text-anchor": "end" }, root, "AUC: learned (solid), raw (dashed)");
  };

  const map = async () => {
    let data;
    try { data = await call("map"); } catch { return; }
    if (drawn) drawn.end();
    byId("map").replaceChildren(byId("controls-map").content.cloneNode(true));
    const d = data.drawing, colors = d.colors;
    d.colors = d.names.map((name, k) => k === d.none ? "#a0a0a0" : colors[(Number(name.replace(/\D/g, "") || 0) + colors.length - 1) % colors.length]); // a group keeps its color
    if (d.none >= 0) d.names[d.none] = "no group yet";
    const thumbnail = data.images && ((k, tip) => picture({ row: data.rows[k], name: "this row", image: true }, tip));
    drawn = drawing(d, (k) => { setMode("group"); load(data.rows[k]); byId("group").scrollIntoView(); }, thumbnail);
    for (const kind of ["must", "cannot"]) if (!byId(kind).disabled) byId(kind).click();
  };

  const disagreements = async () => {
    byId("disagree").hidden = !told;
    if (!told) return;
    let list;
    try { list = await call("disagreements"); } catch { return; }
    byId("disagreements").replaceChildren();
    for (const d of list) {
      const row = element("tr", undefined, byId("disagreements"));
      element("td", `${d.a}, ${d.b}`, row); element("td", say[d.answer], row); element("td", `${d.who || "–"}, ${d.when.slice(0, 10)}`, row); element("td", say[d.now] || "open", row);
      const again = element("button", "ask again", element("td", undefined, row));
      again.type = "button";
      again.addEventListener("click", () => { setMode("pair"); act("ask", { i: d.i, j: d.j }); scrollTo(0, 0); });
    }
  };

  // The group mode: one row against those nearest to it.
  const setMode = (next) => {
    mode = next;
    for (const m of ["pair", "group"]) {
      byId(m).hidden = m !== mode; byId("keys-" + m).hidden = m !== mode;
      byId("mode-" + m).setAttribute("aria-pressed", String(m === mode));
    }
  };
  const keysOf = "1234567890-=";
  const load = async (row) => {
    try { group = await call("group/" + row); } catch { return; }
    const brief = (item, parent) => {
      picture(item, parent);
      const order = item.cells.map((text, k) => [text, group.columns[k]]).sort((a, b) => long(b[1]) - long(a[1]));
      for (const [text, c] of order.slice(0, 4)) if (text) element("span", `${c.name}: ${text.length > 120 ? text.slice(0, 120) + "…" : text}`, parent).className = "answer";
    };
    byId("ask-group").textContent = group.items.length ? `Which belong to ${group.anchor.name}?` : `Everything about ${group.anchor.name} is known.`;
    const anchor = byId("anchor");
    anchor.replaceChildren(); anchor.className = "item";
    element("b", group.anchor.name, anchor); brief(group.anchor, anchor);
    byId("grid").replaceChildren();
    group.items.forEach((item, k) => {
      item.answer = "cannot";
      const cell = element("button", undefined, byId("grid"));
      cell.type = "button"; cell.className = "cell";
      element("b", item.name, cell); brief(item, cell);
      const state = element("span", undefined, cell);
      state.className = "answer";
      const paint = () => {
        cell.dataset.answer = item.answer; cell.setAttribute("aria-pressed", item.answer === "must" ? "true" : item.answer === "unknown" ? "mixed" : "false");
        state.textContent = `${keysOf[k]}: ${say[item.answer]}`;
      };
      cell.addEventListener("click", () => { item.answer = { cannot: "must", must: "unknown", unknown: "cannot" }[item.answer]; paint(); });
      paint();
    });
  };
  const fresh = () => { if (state.question) load(state.question.a.row); };
  const send = () => {
    if (group && group.items.length && byId("settle").hidden) act("answer", { replies: group.items.map((o) => ({ i: group.anchor.row, j: o.row, answer: o.answer })) });
  };
  const another = () => { if (state) load(Math.floor(Math.random() * state.rows)); };
  const toggle = () => { setMode(mode === "pair" ? "group" : "pair"); if (mode === "group") fresh(); };

  byId("same").addEventListener("click", () => answer("must"));
  byId("different").addEventListener("click", () => answer("cannot"));
  byId("unknown").addEventListener("click", () => answer("unknown"));
  for (const id of ["undo", "undo-group"]) byId(id).addEventListener("click", () => act("undo", {}));
  byId("mode-pair").addEventListener("click", () => { if (mode !== "pair") toggle(); });
  byId("mode-group").addEventListener("click", () => { if (mode !== "group") toggle(); });
  byId("send").addEventListener("click", send);
  byId("another").addEventListener("click", another);
  byId("finish").addEventListener("click", async () => {
    if (!confirm("End the session? The answers are in the file.")) return;
    let end;
    try { end = await call("finish", {}); } catch { return; }
    document.body.replaceChildren(element("p", "The session has ended; the answers are in the file. You can close this page."));
    if (!end.next) { clearInterval(poll); return; }
    element("p", "Learn from them with:", document.body);
    const line = element("pre", end.next, document.body), copy = element("button", "copy", document.body);
    copy.type = "button";
    copy.addEventListener("click", () => { getSelection().selectAllChildren(line); document.execCommand("copy"); copy.textContent = "copied"; });
    clearInterval(poll);
  });
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.repeat || e.target.closest("input, select, textarea, canvas")) return;
    const key = e.key.toLowerCase();
    const pairs = { s: () => answer("must"), d: () => answer("cannot"), c: () => answer("unknown") };
    const groups = { enter: send, n: another };
    if (key === "enter" && e.target.closest("button") && !e.target.closest(".cell")) return; // the button's own
    const does = (mode === "pair" ? pairs : groups)[key] || { u: () => act("undo", {}), g: toggle }[key];
    if (does) does();
    else if (mode === "group" && keysOf.includes(key) && byId("grid").children[keysOf.indexOf(key)]) byId("grid").children[keysOf.indexOf(key)].click();
    else return;
    e.preventDefault();
  });
  // The fits go on while a person thinks.
  const poll = setInterval(async () => {
    if (busy || document.hidden || !byId("settle").hidden) return;
    const before = acts;
    try {
      const s = await call("state");
      if (acts !== before) return; // older than what is shown
      if (mode === "group") { state = s; brings(s.fit); if (s.fit.map !== version) { version = s.fit.map; map(); } } else show(s);
    } catch { /* the alert has it */ }
  }, 2000);
  act("state");
})();
