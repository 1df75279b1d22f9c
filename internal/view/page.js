// The page's script: a scatter of the points on a canvas, and the table of violated links. DATA is the payload. Text
// goes into the page as textContent only.
(() => {
  const byId = (id) => document.getElementById(id);
  const array = (text, type) => {
    const bytes = Uint8Array.from(atob(text || ""), (c) => c.charCodeAt(0));
    return new type(bytes.buffer);
  };
  const element = (tag, text, parent) => {
    const e = document.createElement(tag);
    if (text !== undefined) e.textContent = text;
    if (parent) parent.append(e);
    return e;
  };
  const short = (text, most = 120) => (text.length > most ? text.slice(0, most) + "…" : text);
  const digits = (v) => (Math.abs(v) >= 1e5 || (v !== 0 && Math.abs(v) < 1e-3) ? v.toExponential(3) : String(Number(v.toPrecision(4))));

  const n = DATA.count;
  const labels = DATA.names ? array(DATA.labels, Uint32Array) : null;
  const name = (i) => short(DATA.ids ? DATA.ids[i] : "row " + i);
  const label = (i) => (labels ? short(DATA.names[labels[i]]) : "");
  const links = { must: array(DATA.must, Uint32Array), cannot: array(DATA.cannot, Uint32Array) };
  const features = DATA.features.map((f) => {
    let q = null; // decoded on first use
    const values = () => (q = q || array(f.q, Uint16Array));
    return { name: short(f.name), min: f.min, max: f.max, level: (i) => values()[i] / 65535, at: (i) => f.min * (1 - values()[i] / 65535) + f.max * (values()[i] / 65535) };
  });

  const colors = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f", "#a09628"]; // Okabe & Ito
  const ramp = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]]; // viridis
  const rampAt = (t) => {
    const at = Math.min(ramp.length - 1.000001, Math.max(0, t) * (ramp.length - 1)), k = Math.floor(at), u = at - k;
    return ramp[k].map((v, c) => Math.round(v + u * (ramp[k + 1][c] - v)));
  };
  const rgb = (hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16));

  const plot = () => {
    const canvas = byId("plot"), context = canvas.getContext("2d"), tip = byId("tip"), said = byId("said"), legend = byId("legend");
    const views = DATA.views.map((v) => ({ name: short(v.name), xlabel: v.xlabel, ylabel: v.ylabel, x: array(v.x, Float32Array), y: array(v.y, Float32Array), clusters: v.clusters ? array(v.clusters, Uint32Array) : null }));
    const state = { view: 0, color: labels ? "label" : "one", must: false, cannot: false, scale: 1, dx: 0, dy: 0, point: -1, link: null, hidden: new Set() };
    let grid = null, groups = null, width = 0, height = 0, ratio = 1, asked = false;

    // place: data to pixels of the page; one scale for both axes.
    const frame = () => {
      const v = views[state.view];
      let x0 = Infinity, x1 = -Infinity, y0 = Infinity, y1 = -Infinity;
      for (let i = 0; i < n; i++) {
        x0 = Math.min(x0, v.x[i]); x1 = Math.max(x1, v.x[i]); y0 = Math.min(y0, v.y[i]); y1 = Math.max(y1, v.y[i]);
      }
      const margin = 28, unit = Math.min((width - 2 * margin) / Math.max(x1 - x0, 1e-30), (height - 2 * margin) / Math.max(y1 - y0, 1e-30));
      v.unit = Number.isFinite(unit) && unit < 1e29 ? unit : 1;
      v.cx = (x0 + x1) / 2 || 0; v.cy = (y0 + y1) / 2 || 0;
    };
    const px = (v, i) => width / 2 + state.dx + (v.x[i] - v.cx) * v.unit * state.scale;
    const py = (v, i) => height / 2 + state.dy - (v.y[i] - v.cy) * v.unit * state.scale;

    // coloring: the group of every point and the colors of the groups, or a ramp.
    const coloring = () => {
      const v = views[state.view];
      if (state.color === "label" && labels) groups = { of: labels, names: DATA.names.map((t) => short(t, 40)) };
      else if (state.color === "cluster" && v.clusters) {
        let most = 0;
        for (const c of v.clusters) most = Math.max(most, c);
        groups = { of: v.clusters, names: Array.from({ length: most + 1 }, (_, c) => "cluster " + c) };
      } else if (state.color.startsWith("feature ")) groups = { feature: features[Number(state.color.slice(8))] };
      else groups = { of: new Uint32Array(n), names: ["all points"] };
      state.hidden.clear();
      legendOf();
    };
    const colorOf = (i) => (groups.feature ? rampAt(groups.feature.level(i)) : rgb(colors[groups.of[i] % colors.length]));
    const shown = (i) => groups.feature || !state.hidden.has(groups.of[i]);

    const legendOf = () => {
      legend.replaceChildren();
      if (groups.feature) {
        for (const [t, text] of [[1, digits(groups.feature.max)], [0.5, ""], [0, digits(groups.feature.min)]]) {
          const row = element("div", undefined, legend), swatch = element("span", undefined, row);
          row.style.display = "flex"; row.style.gap = ".4rem";
          swatch.className = "swatch"; swatch.style.background = `rgb(${rampAt(t)})`;
          element("span", text, row);
        }
        return;
      }
      const count = new Uint32Array(groups.names.length), most = 60;
      for (let i = 0; i < n; i++) count[groups.of[i]]++;
      groups.names.slice(0, most).forEach((text, k) => {
        const button = element("button", undefined, legend), swatch = element("span", undefined, button);
        button.type = "button"; button.setAttribute("aria-pressed", "true");
        swatch.className = "swatch"; swatch.style.background = colors[k % colors.length];
        element("span", `${text} (${count[k]})`, button);
        button.addEventListener("click", () => {
          if (!state.hidden.delete(k)) state.hidden.add(k);
          button.setAttribute("aria-pressed", String(!state.hidden.has(k)));
          draw();
        });
      });
      if (groups.names.length > most) element("p", `and ${groups.names.length - most} more`, legend);
    };

    const resize = () => {
      const box = canvas.getBoundingClientRect();
      ratio = window.devicePixelRatio || 1;
      width = Math.max(50, box.width); height = Math.max(50, box.height);
      canvas.width = Math.round(width * ratio); canvas.height = Math.round(height * ratio);
      frame(); grid = null; draw();
    };
    const draw = () => {
      if (asked) return;
      asked = true;
      requestAnimationFrame(() => { asked = false; paint(); });
    };

    const paint = () => {
      const v = views[state.view], style = getComputedStyle(document.documentElement), ink = style.getPropertyValue("--soft").trim();
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      context.clearRect(0, 0, width, height);
      if (state.must) lines(v, links.must, ink, []);
      if (state.cannot) lines(v, links.cannot, style.getPropertyValue("--warn").trim(), [4, 3]);
      if (n > 4000) dots(v); else discs(v);
      if (state.link) lines(v, [state.link.i, state.link.j], style.getPropertyValue("--accent").trim(), state.link.link === "cannot" ? [4, 3] : [], 3);
      for (const i of state.link ? [state.link.i, state.link.j] : []) ring(v, i, style);
      if (state.point >= 0) ring(v, state.point, style);
      context.fillStyle = ink; context.font = "12px system-ui, sans-serif";
      context.textAlign = "center"; context.fillText(short(v.xlabel), width / 2, height - 8);
      context.save(); context.translate(14, height / 2); context.rotate(-Math.PI / 2); context.fillText(short(v.ylabel), 0, 0); context.restore();
      if (!canvas.dataset.painted) performance.mark("points");
      canvas.dataset.painted = String(Number(canvas.dataset.painted || 0) + 1);
      canvas.dataset.links = String((state.must ? links.must.length : 0) / 2 + (state.cannot ? links.cannot.length : 0) / 2);
    };
    const lines = (v, list, color, dashes, wide = 1) => {
      context.strokeStyle = color; context.lineWidth = wide; context.setLineDash(dashes);
      context.globalAlpha = wide > 1 ? 1 : Math.max(0.15, Math.min(0.7, 600 / list.length));
      context.beginPath();
      for (let k = 0; k + 1 < list.length; k += 2) {
        context.moveTo(px(v, list[k]), py(v, list[k])); context.lineTo(px(v, list[k + 1]), py(v, list[k + 1]));
      }
      context.stroke(); context.setLineDash([]); context.globalAlpha = 1;
    };
    const discs = (v) => {
      const radius = Math.max(2.2, Math.min(4.5, 130 / Math.sqrt(n)));
      for (let i = 0; i < n; i++) {
        if (!shown(i)) continue;
        context.fillStyle = `rgb(${colorOf(i)})`;
        context.beginPath(); context.arc(px(v, i), py(v, i), radius, 0, 7); context.fill();
      }
    };
    // Many points: squares of some pixels in a separate image, darker where there are more points.
    const layer = document.createElement("canvas");
    const dots = (v) => {
      const w = canvas.width, h = canvas.height, picture = context.createImageData(w, h), data = picture.data, side = Math.max(2, Math.round(2 * ratio)), part = n > 20000 ? 0.55 : 0.8;
      for (let i = 0; i < n; i++) {
        if (!shown(i)) continue;
        const x0 = Math.round(px(v, i) * ratio), y0 = Math.round(py(v, i) * ratio);
        if (x0 < 0 || y0 < 0 || x0 + side > w || y0 + side > h) continue;
        const c = colorOf(i);
        for (let y = y0; y < y0 + side; y++) {
          for (let at = 4 * (y * w + x0), end = at + 4 * side; at < end; at += 4) {
            const under = data[at + 3] / 255, all = part + under * (1 - part);
            for (let k = 0; k < 3; k++) data[at + k] = (c[k] * part + data[at + k] * under * (1 - part)) / all;
            data[at + 3] = 255 * all;
          }
        }
      }
      layer.width = w; layer.height = h;
      layer.getContext("2d").putImageData(picture, 0, 0);
      context.drawImage(layer, 0, 0, width, height);
    };
    const ring = (v, i, style) => {
      context.strokeStyle = style.getPropertyValue("--ink").trim(); context.lineWidth = 2;
      context.beginPath(); context.arc(px(v, i), py(v, i), 7, 0, 7); context.stroke();
    };

    // nearest: the shown point at most reach pixels away, by a grid over the positions without zoom.
    const cell = 16;
    const nearest = (x, y, reach) => {
      const v = views[state.view];
      if (!grid) {
        grid = new Map();
        for (let i = 0; i < n; i++) {
          const key = Math.floor(((v.x[i] - v.cx) * v.unit) / cell) + "," + Math.floor(((v.y[i] - v.cy) * v.unit) / cell);
          if (!grid.has(key)) grid.set(key, []);
          grid.get(key).push(i);
        }
      }
      const gx = (x - width / 2 - state.dx) / state.scale, gy = -(y - height / 2 - state.dy) / state.scale, r = reach / state.scale;
      let best = -1, least = reach * reach;
      for (let cx = Math.floor((gx - r) / cell); cx <= Math.floor((gx + r) / cell); cx++) {
        for (let cy = Math.floor((gy - r) / cell); cy <= Math.floor((gy + r) / cell); cy++) {
          for (const i of grid.get(cx + "," + cy) || []) {
            const d = (px(v, i) - x) ** 2 + (py(v, i) - y) ** 2;
            if (shown(i) && d <= least) { least = d; best = i; }
          }
        }
      }
      return best;
    };

    const describe = (i) => {
      const v = views[state.view], out = [];
      if (labels) out.push("label: " + label(i));
      if (v.clusters) out.push("cluster: " + v.clusters[i]);
      const most = 14;
      for (const f of features.slice(0, most)) out.push(f.name + ": " + digits(f.at(i)));
      if (features.length > most) out.push(`and ${features.length - most} more features`);
      return out;
    };
    const point = (i, x, y) => {
      if (state.point === i && (i < 0 || !tip.hidden)) return;
      state.point = i;
      tip.hidden = i < 0;
      if (i >= 0) {
        tip.replaceChildren();
        element("b", name(i), tip);
        for (const line of describe(i)) element("div", line, tip);
        const left = x + 14 + 220 > width ? Math.max(0, x - 234) : x + 14;
        tip.style.left = left + "px"; tip.style.top = Math.max(0, Math.min(y + 14, height - 120)) + "px";
        said.textContent = name(i) + (labels ? ", " + label(i) : "");
      }
      draw();
    };
    const zoom = (factor, x = width / 2, y = height / 2) => {
      const scale = Math.max(0.2, Math.min(1e4, state.scale * factor)), f = scale / state.scale;
      state.dx = x - width / 2 - (x - width / 2 - state.dx) * f; state.dy = y - height / 2 - (y - height / 2 - state.dy) * f;
      state.scale = scale; draw();
    };
    const whole = () => { state.scale = 1; state.dx = state.dy = 0; draw(); };

    let drag = null;
    const at = (e) => { const box = canvas.getBoundingClientRect(); return [e.clientX - box.left, e.clientY - box.top]; };
    canvas.addEventListener("pointerdown", (e) => { drag = at(e); canvas.setPointerCapture(e.pointerId); });
    canvas.addEventListener("pointerup", () => { drag = null; });
    canvas.addEventListener("pointermove", (e) => {
      const [x, y] = at(e);
      if (drag) { state.dx += x - drag[0]; state.dy += y - drag[1]; drag = [x, y]; draw(); return; }
      point(nearest(x, y, 10), x, y);
    });
    canvas.addEventListener("pointerleave", () => point(-1));
    canvas.addEventListener("wheel", (e) => { e.preventDefault(); zoom(Math.exp(-e.deltaY / 400), ...at(e)); }, { passive: false });
    canvas.addEventListener("keydown", (e) => {
      const step = 40, v = views[state.view];
      const moves = { ArrowLeft: [step, 0], ArrowRight: [-step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] };
      if (moves[e.key]) { state.dx += moves[e.key][0]; state.dy += moves[e.key][1]; draw(); }
      else if (e.key === "+" || e.key === "=") zoom(1.25);
      else if (e.key === "-") zoom(0.8);
      else if (e.key === "0") whole();
      else if ((e.key === "]" || e.key === "[") && n > 0) {
        const i = state.point < 0 ? 0 : (state.point + (e.key === "]" ? 1 : n - 1)) % n;
        point(i, px(v, i), py(v, i));
      } else return;
      e.preventDefault();
    });

    const view = byId("view"), color = byId("color");
    views.forEach((v, k) => { element("option", v.name, view).value = k; });
    const choices = () => {
      const was = color.value || state.color;
      color.replaceChildren();
      if (labels) element("option", "label", color).value = "label";
      if (views[state.view].clusters) element("option", "cluster", color).value = "cluster";
      element("option", "one color", color).value = "one";
      features.forEach((f, k) => { element("option", f.name, color).value = "feature " + k; });
      if ([...color.options].some((o) => o.value === was)) color.value = was;
      state.color = color.value;
    };
    view.addEventListener("change", () => { state.view = Number(view.value); frame(); grid = null; state.point = -1; tip.hidden = true; choices(); coloring(); draw(); });
    color.addEventListener("change", () => { state.color = color.value; coloring(); draw(); });
    for (const kind of ["must", "cannot"]) {
      const box = byId(kind);
      box.disabled = links[kind].length === 0;
      box.addEventListener("change", () => { state[kind] = box.checked; draw(); });
    }
    byId("reset").addEventListener("click", whole);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
    matchMedia("print").addEventListener("change", paint); // at once: the printer does not wait for a frame
    new ResizeObserver(resize).observe(canvas);
    choices(); coloring(); resize();
    return { show: (link) => { state.link = link; draw(); } };
  };
  const drawn = byId("plot") ? plot() : { show: () => {} };

  const suspects = () => {
    const table = byId("suspects"), head = table.tHead.rows[0], body = table.tBodies[0], kind = byId("kind"), filter = byId("filter"), count = byId("shown");
    const columns = [
      ["link", (s) => s.link], ["first", (s) => s.i, (s) => name(s.i)], ["second", (s) => s.j, (s) => name(s.j)],
      ["labels", (s) => label(s.i) + " / " + label(s.j)], ["metric", (s) => s.metric],
      ["squared distance", (s) => s.distance, (s) => digits(s.distance)], ["expected", (s) => s.expected, (s) => (s.link === "must" ? "≤ " : "≥ ") + digits(s.expected)],
      ["factor", (s) => s.excess, (s) => digits(s.excess)], ["line", (s) => s.line || 0, (s) => (s.line ? String(s.line) : "")],
    ].filter(([title]) => (title !== "labels" || labels) && (title !== "line" || DATA.suspects.some((s) => s.line)));
    const state = { by: columns.findIndex(([title]) => title === "factor"), down: true };
    const text = (s) => columns.map(([, value, write]) => String((write || value)(s))).join(" ").toLowerCase();
    const texts = new Map(DATA.suspects.map((s) => [s, text(s)]));
    columns.forEach(([title], k) => {
      const cell = element("th", undefined, head), button = element("button", title, cell);
      button.type = "button"; cell.scope = "col";
      button.addEventListener("click", () => { state.down = state.by === k ? !state.down : true; state.by = k; fill(); });
    });
    const fill = () => {
      const [, value] = columns[state.by], words = filter.value.toLowerCase().split(/\s+/).filter(Boolean), sign = state.down ? -1 : 1, most = 1000;
      const rows = DATA.suspects.filter((s) => (!kind.value || s.link === kind.value) && words.every((w) => texts.get(s).includes(w)));
      rows.sort((a, b) => { const p = value(a), q = value(b); return sign * (typeof p === "string" ? p.localeCompare(q) : p - q); });
      [...head.cells].forEach((cell, k) => cell.setAttribute("aria-sort", k !== state.by ? "none" : state.down ? "descending" : "ascending"));
      body.replaceChildren();
      for (const s of rows.slice(0, most)) {
        const row = element("tr", undefined, body);
        row.tabIndex = 0;
        for (const [, of, write] of columns) {
          const text = String((write || of)(s));
          element("td", text, row).className = /^[≤≥]? ?-?[\d.]+(e[+-]?\d+)?$/.test(text) ? "n" : "";
        }
        const pick = () => { for (const r of body.rows) r.setAttribute("aria-selected", String(r === row)); drawn.show(s); };
        row.addEventListener("click", pick);
        row.addEventListener("keydown", (e) => { if (e.key === "Enter" || e.key === " ") { pick(); e.preventDefault(); } });
      }
      count.textContent = rows.length > most ? `the first ${most} of ${rows.length}` : `${rows.length} of ${DATA.suspects.length}`;
    };
    kind.addEventListener("change", fill);
    filter.addEventListener("input", fill);
    fill();
  };
  if (byId("suspects")) suspects();
})();
