// The script of pages with points: the points before and after learning, and the table of violated links. DATA is the
// payload. With chosen, a click on a point calls chosen(point) instead of listing its neighbors; with pictured, pictured(point,
// tip) adds a picture to the tip of a point. end() of the result lets go of the page. Text goes into the page as textContent
// only.
const drawing = (DATA, chosen, pictured) => {
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

  const n = DATA.count, ended = new AbortController(), until = { signal: ended.signal };
  const labels = DATA.names ? array(DATA.labels, Uint32Array) : null;
  const name = (i) => short(DATA.ids ? DATA.ids[i] : "row " + i);
  const label = (i) => (labels ? short(DATA.names[labels[i]]) : "");
  const links = { must: array(DATA.must, Uint32Array), cannot: array(DATA.cannot, Uint32Array) };
  const features = DATA.features.map((f) => {
    let q = null; // decoded on first use
    const values = () => (q = q || array(f.q, Uint16Array));
    const unit = 10 ** Math.ceil(Math.log10((f.max / 65535 - f.min / 65535) * 2)); // digits that the levels do not have
    const rounded = (v) => (unit > 0 && Number.isFinite(v / unit) ? Math.round(v / unit) * unit : v);
    return { name: short(f.name), min: f.min, max: f.max, level: (i) => values()[i] / 65535, at: (i) => rounded(f.min * (1 - values()[i] / 65535) + f.max * (values()[i] / 65535)) };
  });

  const colors = DATA.colors, few = DATA.few;
  const shapeOf = (g, groups) => (groups <= few ? 0 : (g + Math.floor(g / colors.length)) % DATA.shapes.length);
  const ramp = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]]; // viridis
  const rampAt = (t) => {
    const at = Math.min(ramp.length - 1.000001, Math.max(0, t) * (ramp.length - 1)), k = Math.floor(at), u = at - k;
    return ramp[k].map((v, c) => Math.round(v + u * (ramp[k + 1][c] - v)));
  };
  const rgb = (hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16));
  const levels = colors.map(rgb);
  // trace: the outline of a marker around (x, y), for any drawing surface.
  const trace = (c, shape, x, y, r) => {
    const p = DATA.shapes[shape];
    c.beginPath();
    if (p.length === 0) c.arc(x, y, r, 0, 7);
    else if (shape >= DATA.stroked) {
      for (let k = 0, half = p.length / 2; k < half; k += 2) { c.moveTo(x + r * p[k], y + r * p[k + 1]); c.lineTo(x + r * p[k + half], y + r * p[k + half + 1]); }
    } else for (let k = 0; k < p.length; k += 2) c[k ? "lineTo" : "moveTo"](x + r * p[k], y + r * p[k + 1]);
    if (shape < DATA.stroked) c.closePath();
  };

  const plot = () => {
    const box = byId("panels"), tip = byId("tip"), said = byId("said"), legend = byId("legend"), near = byId("near");
    const views = DATA.views.map((v) => ({ name: short(v.name), metric: v.name, xlabel: v.xlabel, ylabel: v.ylabel, scaled: !v.noscale, x: array(v.x, Float32Array), y: array(v.y, Float32Array),
      clusters: v.clusters ? array(v.clusters, Uint32Array) : null, nearest: v.nearest || 0, near: array(v.near, Int32Array), far: array(v.far, Float32Array) }));
    const pair = Boolean(byId("before"));
    // point: under the pointer; chosen: clicked; link: of the table of violated links.
    const state = { view: pair ? 1 : 0, color: labels ? "label" : "one", must: false, cannot: false, which: "all", point: -1, chosen: -1, link: null, hidden: new Set() };
    let groups = null, drawn = { must: [], cannot: [] };

    // violated: the links that the metric of a view violates.
    const violated = new Map();
    for (const s of DATA.suspects) {
      if (!violated.has(s.metric)) violated.set(s.metric, new Set());
      violated.get(s.metric).add(s.link + Math.min(s.i, s.j) + "," + Math.max(s.i, s.j));
    }
    const filtered = (kind) => {
      const all = links[kind], bad = violated.get(views[state.view].metric) || new Set();
      if (state.which === "all") return all;
      const out = [];
      for (let k = 0; k + 1 < all.length; k += 2) {
        if (bad.has(kind + Math.min(all[k], all[k + 1]) + "," + Math.max(all[k], all[k + 1])) === (state.which === "violated")) out.push(all[k], all[k + 1]);
      }
      return out;
    };
    const filter = () => { drawn = { must: state.must ? filtered("must") : [], cannot: state.cannot ? filtered("cannot") : [] }; draw(); };

    // coloring: the group of every point and the colors of the groups, or a ramp. Clusters are those of the learned metric.
    const coloring = () => {
      const v = views[state.view];
      if (state.color === "label" && labels) groups = { of: labels, names: DATA.names.map((t) => short(t, 40)), none: DATA.none };
      else if (state.color === "cluster" && v.clusters) {
        let most = 0;
        for (const c of v.clusters) most = Math.max(most, c);
        groups = { of: v.clusters, names: Array.from({ length: most + 1 }, (_, c) => "cluster " + c) };
      } else if (state.color.startsWith("feature ")) groups = { feature: features[Number(state.color.slice(8))] };
      else groups = { of: new Uint32Array(n), names: ["all points"] };
      state.hidden.clear();
      legendOf();
    };
    const colorOf = (i) => (groups.feature ? rampAt(groups.feature.level(i)) : groups.of[i] === groups.none ? [160, 160, 160] : levels[groups.of[i] % colors.length]);
    const shown = (i) => groups.feature || !state.hidden.has(groups.of[i]);

    const legendOf = () => {
      legend.replaceChildren();
      if (groups.feature) {
        element("span", digits(groups.feature.min), legend);
        const bar = element("span", undefined, legend);
        bar.className = "ramp"; bar.style.background = `linear-gradient(to right, ${ramp.map((c) => `rgb(${c})`)})`;
        element("span", digits(groups.feature.max), legend);
        return;
      }
      const count = new Uint32Array(groups.names.length), most = 60, svg = "http://www.w3.org/2000/svg";
      for (let i = 0; i < n; i++) count[groups.of[i]]++;
      groups.names.slice(0, most).forEach((text, k) => {
        const button = element("button", undefined, legend), key = document.createElementNS(svg, "svg"), path = document.createElementNS(svg, "path"), shape = shapeOf(k, groups.names.length);
        let d = "";
        const pen = { beginPath() {}, moveTo(x, y) { d += `M${x} ${y}`; }, lineTo(x, y) { d += `L${x} ${y}`; }, closePath() { d += "Z"; }, arc(x, y, r) { d += `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`; } };
        trace(pen, shape, 8, 8, 5);
        path.setAttribute("d", d);
        path.setAttribute(shape >= DATA.stroked ? "stroke" : "fill", k === groups.none ? "#a0a0a0" : colors[k % colors.length]);
        if (shape >= DATA.stroked) path.setAttribute("stroke-width", "2.2");
        key.setAttribute("width", "16"); key.setAttribute("height", "16"); key.setAttribute("aria-hidden", "true");
        key.append(path); button.append(key);
        button.type = "button"; button.setAttribute("aria-pressed", "true");
        element("span", `${text} (${count[k]})`, button);
        button.addEventListener("click", () => {
          if (!state.hidden.delete(k)) state.hidden.add(k);
          button.setAttribute("aria-pressed", String(!state.hidden.has(k)));
          draw();
        });
      });
      if (groups.names.length > most) element("span", `and ${groups.names.length - most} more`, legend);
    };

    let asked = false, theme = null;
    const draw = () => {
      if (asked) return;
      asked = true;
      requestAnimationFrame(() => { asked = false; paint(); });
    };
    const paint = () => {
      const style = getComputedStyle(document.documentElement);
      theme = (name) => style.getPropertyValue("--" + name).trim();
      for (const p of panels) p.paint();
    };

    // panel: one plane. Its view is fixed, or the chosen one.
    const panel = (canvas, viewOf, title) => {
      const context = canvas.getContext("2d"), margin = 36;
      let width = 0, height = 0, ratio = 1, scale = 1, dx = 0, dy = 0, grid = null;
      // place: data to pixels of the page; one scale for both axes.
      const frame = () => {
        const v = viewOf();
        let x0 = Infinity, x1 = -Infinity, y0 = Infinity, y1 = -Infinity;
        for (let i = 0; i < n; i++) {
          x0 = Math.min(x0, v.x[i]); x1 = Math.max(x1, v.x[i]); y0 = Math.min(y0, v.y[i]); y1 = Math.max(y1, v.y[i]);
        }
        const unit = Math.min((width - 2 * margin) / Math.max(x1 - x0, 1e-30), (height - 2 * margin) / Math.max(y1 - y0, 1e-30));
        v.unit = Number.isFinite(unit) && unit < 1e29 ? unit : 1;
        v.cx = (x0 + x1) / 2 || 0; v.cy = (y0 + y1) / 2 || 0;
        grid = null;
      };
      const px = (v, i) => width / 2 + dx + (v.x[i] - v.cx) * v.unit * scale;
      const py = (v, i) => height / 2 + dy - (v.y[i] - v.cy) * v.unit * scale;
      const resize = () => {
        const size = canvas.getBoundingClientRect();
        ratio = window.devicePixelRatio || 1;
        width = Math.max(50, size.width); height = Math.max(50, size.height);
        canvas.width = Math.round(width * ratio); canvas.height = Math.round(height * ratio);
        frame(); draw();
      };

      const axes = (v) => {
        context.font = "12px system-ui, sans-serif"; context.textAlign = "center"; context.lineWidth = 1;
        const step = (() => {
          const rough = 90 / (v.unit * scale), power = 10 ** Math.floor(Math.log10(rough));
          return power * ([1, 2, 5].find((m) => m * power >= rough) || 10);
        })();
        const tick = (x, y, vertical, value) => {
          context.strokeStyle = theme("line"); context.globalAlpha = 0.6;
          context.beginPath();
          if (vertical) { context.moveTo(0, y); context.lineTo(width, y); } else { context.moveTo(x, 0); context.lineTo(x, height); }
          context.stroke(); context.globalAlpha = 1;
          context.fillStyle = theme("soft"); context.textAlign = vertical ? "left" : "center";
          context.fillText(digits(Number(value.toPrecision(6))), vertical ? 20 : x, vertical ? y - 3 : height - 21);
        };
        if (v.scaled && Number.isFinite(step) && step > 0) {
          const left = v.cx + (0 - width / 2 - dx) / (v.unit * scale), right = v.cx + (width - width / 2 - dx) / (v.unit * scale);
          for (let k = Math.ceil(left / step); k * step <= right; k++) {
            const x = width / 2 + dx + (k * step - v.cx) * v.unit * scale;
            if (x > 60 && x < width - 16) tick(x, 0, false, k * step);
          }
          const low = v.cy - (height / 2 - dy) / (v.unit * scale), high = v.cy + (height / 2 + dy) / (v.unit * scale);
          for (let k = Math.ceil(low / step); k * step <= high; k++) {
            const y = height / 2 + dy - (k * step - v.cy) * v.unit * scale;
            if (y > 16 && y < height - 40) tick(0, y, true, k * step);
          }
        }
        context.fillStyle = theme("soft"); context.textAlign = "center";
        context.fillText(short(v.xlabel), width / 2, height - 6, width - 12);
        context.save(); context.translate(13, height / 2); context.rotate(-Math.PI / 2); context.fillText(short(v.ylabel), 0, 0, height - 12); context.restore();
      };
      const paint = () => {
        const v = viewOf(), focus = state.chosen >= 0 ? state.chosen : state.point;
        title.textContent = (v === views[0] && pair ? "Before — " : pair ? "After — " : "") + v.name;
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        context.clearRect(0, 0, width, height);
        axes(v);
        lines(v, drawn.must, theme("must"), [], 1, focus);
        lines(v, drawn.cannot, theme("cannot"), [4, 3], 1, focus);
        if (n > 4000) dots(v); else discs(v);
        if (state.link) lines(v, [state.link.i, state.link.j], theme("accent"), state.link.link === "cannot" ? [4, 3] : [], 3, -1);
        if (state.chosen >= 0) {
          const ends = [];
          for (let k = 0; k < v.nearest; k++) ends.push(state.chosen, v.near[state.chosen * v.nearest + k]);
          lines(v, ends, theme("accent"), [], 1.5, -1);
        }
        for (const i of state.link ? [state.link.i, state.link.j] : []) ring(v, i);
        for (const i of [state.chosen, state.point]) if (i >= 0) ring(v, i);
        if (!canvas.dataset.painted) performance.mark("points");
        canvas.dataset.painted = String(Number(canvas.dataset.painted || 0) + 1);
        canvas.dataset.links = String((drawn.must.length + drawn.cannot.length) / 2);
      };
      // lines: the more, the fainter. With a focus, those of other points fade.
      const lines = (v, list, color, dashes, wide, focus) => {
        const strokes = (keep) => {
          context.beginPath();
          for (let k = 0; k + 1 < list.length; k += 2) {
            if (!keep(list[k], list[k + 1]) || !shown(list[k]) || !shown(list[k + 1])) continue;
            context.moveTo(px(v, list[k]), py(v, list[k])); context.lineTo(px(v, list[k + 1]), py(v, list[k + 1]));
          }
          context.stroke();
        };
        context.strokeStyle = color; context.lineWidth = wide; context.setLineDash(dashes);
        const usual = Math.max(0.12, Math.min(0.6, 20 / Math.sqrt(list.length)));
        if (wide > 1 || focus < 0) { context.globalAlpha = wide > 1 ? 1 : usual; strokes(() => true); }
        else {
          context.globalAlpha = usual / 3; strokes((i, j) => i !== focus && j !== focus);
          context.globalAlpha = 1; context.lineWidth = 1.5; strokes((i, j) => i === focus || j === focus);
        }
        context.setLineDash([]); context.globalAlpha = 1;
      };
      const discs = (v) => {
        const radius = Math.max(2.2, Math.min(4.5, 110 / Math.sqrt(n))), edge = theme("back"), all = groups.feature ? 0 : groups.names.length;
        for (let i = 0; i < n; i++) {
          if (!shown(i)) continue;
          const shape = groups.feature ? 0 : shapeOf(groups.of[i], all), color = `rgb(${colorOf(i)})`;
          trace(context, shape, px(v, i), py(v, i), radius);
          if (shape >= DATA.stroked) { context.strokeStyle = color; context.lineWidth = 0.45 * radius; context.stroke(); continue; }
          context.fillStyle = color; context.fill();
          if (n <= 2000) { context.strokeStyle = edge; context.lineWidth = 0.7; context.stroke(); }
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
      const ring = (v, i) => {
        context.strokeStyle = theme("ink"); context.lineWidth = 2;
        context.beginPath(); context.arc(px(v, i), py(v, i), 7, 0, 7); context.stroke();
      };

      // nearest: the shown point at most reach pixels away, by a grid over the positions without zoom.
      const cell = 16;
      const nearest = (x, y, reach) => {
        const v = viewOf();
        if (!grid) {
          grid = new Map();
          for (let i = 0; i < n; i++) {
            const key = Math.floor(((v.x[i] - v.cx) * v.unit) / cell) + "," + Math.floor(((v.y[i] - v.cy) * v.unit) / cell);
            if (!grid.has(key)) grid.set(key, []);
            grid.get(key).push(i);
          }
        }
        const gx = (x - width / 2 - dx) / scale, gy = -(y - height / 2 - dy) / scale, r = reach / scale;
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
      const zoom = (factor, x = width / 2, y = height / 2) => {
        const next = Math.max(0.2, Math.min(1e4, scale * factor)), f = next / scale;
        dx = x - width / 2 - (x - width / 2 - dx) * f; dy = y - height / 2 - (y - height / 2 - dy) * f;
        scale = next; draw();
      };
      const whole = () => { scale = 1; dx = dy = 0; draw(); };
      const self = { paint, zoom, whole, again: frame, name: (i) => point(i, px(viewOf(), i) + canvas.offsetLeft, py(viewOf(), i) + canvas.offsetTop) };

      let drag = null, moved = 0;
      const at = (e) => { const size = canvas.getBoundingClientRect(); return [e.clientX - size.left, e.clientY - size.top]; };
      canvas.addEventListener("pointerdown", (e) => { drag = at(e); moved = 0; canvas.setPointerCapture(e.pointerId); });
      canvas.addEventListener("pointercancel", () => { drag = null; });
      canvas.addEventListener("pointerup", (e) => {
        const clicked = drag && moved < 4;
        drag = null;
        if (clicked) choose(nearest(...at(e), 12));
      });
      canvas.addEventListener("pointermove", (e) => {
        const [x, y] = at(e);
        if (drag) {
          moved += Math.abs(x - drag[0]) + Math.abs(y - drag[1]);
          dx += x - drag[0]; dy += y - drag[1]; drag = [x, y]; draw();
          return;
        }
        point(nearest(x, y, 10), x + canvas.offsetLeft, y + canvas.offsetTop);
      });
      canvas.addEventListener("pointerleave", () => point(-1));
      canvas.addEventListener("wheel", (e) => { if (e.ctrlKey || e.metaKey) { e.preventDefault(); zoom(Math.exp(-e.deltaY / 400), ...at(e)); } }, { passive: false });
      canvas.addEventListener("keydown", (e) => {
        if (e.ctrlKey || e.metaKey || e.altKey) return;
        const step = 40, moves = { ArrowLeft: [step, 0], ArrowRight: [-step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] };
        if (moves[e.key]) { dx += moves[e.key][0]; dy += moves[e.key][1]; draw(); }
        else if (e.key === "+" || e.key === "=") zoom(1.25);
        else if (e.key === "-") zoom(0.8);
        else if (e.key === "0") whole();
        else if (e.key === "Enter" && state.point >= 0) choose(state.point);
        else if (e.key === "Escape") { choose(-1); point(-1); }
        else if ((e.key === "]" || e.key === "[") && n > 0) {
          self.name(state.point < 0 ? 0 : (state.point + (e.key === "]" ? 1 : n - 1)) % n);
        } else return;
        e.preventDefault();
      });
      new ResizeObserver(resize).observe(canvas);
      resize();
      return self;
    };

    const describe = (i) => {
      const v = views[state.view], out = [];
      if (labels) out.push("label: " + label(i));
      if (v.clusters) out.push("cluster: " + v.clusters[i]);
      const most = 10;
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
        if (pictured) pictured(i, tip);
        for (const line of describe(i)) element("div", line, tip);
        const room = box.clientWidth, wide = tip.offsetWidth, left = x + 14 + wide > room ? Math.max(0, x - wide - 14) : x + 14;
        tip.style.left = left + "px"; tip.style.top = y + 14 + "px";
        said.textContent = name(i) + (labels ? ", " + label(i) : "");
      }
      draw();
    };
    // choose: the tables of a point's nearest neighbors, before and after.
    const choose = (i) => {
      if (chosen) { if (i >= 0) chosen(i); return; }
      state.chosen = i === state.chosen ? -1 : i;
      if (i >= 0) tip.hidden = true; // the tables say more
      fill();
      draw();
    };
    const fill = () => {
      const i = state.chosen, list = pair ? [views[0], views[state.view]] : [views[state.view]];
      near.replaceChildren();
      near.hidden = i < 0;
      if (i < 0) return;
      element("h3", `Nearest rows of ${name(i)}` + (labels ? `, label ${label(i)}` : ""), near);
      if (!list.some((v) => v.nearest)) { element("p", "The page has no neighbors of so many rows.", near).className = "note"; return; }
      const cards = element("div", undefined, near);
      cards.className = "cards";
      for (const v of list.filter((v) => v.nearest)) {
        const card = element("div", undefined, cards), table = element("table", undefined, card), head = element("tr", undefined, element("thead", undefined, table)), body = element("tbody", undefined, table);
        card.className = "card";
        element("caption", (pair ? (v === views[0] ? "Before — " : "After — ") : "") + v.name, table);
        for (const title of labels ? ["row", "label", "distance"] : ["row", "distance"]) {
          const cell = element("th", title, head);
          cell.scope = "col"; cell.className = title === "distance" ? "n" : "";
        }
        for (let k = 0; k < v.nearest; k++) {
          const j = v.near[i * v.nearest + k], row = element("tr", undefined, body);
          element("td", name(j), row);
          if (labels) element("td", (labels[j] === labels[i] ? "= " : "≠ ") + label(j), row).className = labels[j] === labels[i] ? "same" : "";
          element("td", digits(v.far[i * v.nearest + k]), row).className = "n";
        }
      }
    };

    const view = byId("view"), color = byId("color");
    views.forEach((v, k) => { if (k > 0 || !pair) element("option", v.name, view).value = k; });
    const choices = () => {
      const was = color.value || state.color;
      color.replaceChildren();
      if (labels) element("option", "label", color).value = "label";
      if (views[state.view].clusters) element("option", "cluster (k-means)", color).value = "cluster";
      element("option", "one color", color).value = "one";
      features.forEach((f, k) => { element("option", f.name, color).value = "feature " + k; });
      if ([...color.options].some((o) => o.value === was)) color.value = was;
      state.color = color.value;
    };
    view.addEventListener("change", () => {
      state.view = Number(view.value); state.point = -1; tip.hidden = true;
      choices(); coloring(); filter(); fill();
      for (const p of panels) p.again();
    });
    color.addEventListener("change", () => { state.color = color.value; coloring(); draw(); });
    byId("links").hidden = links.must.length + links.cannot.length === 0;
    for (const kind of ["must", "cannot"]) {
      const check = byId(kind);
      check.disabled = links[kind].length === 0;
      check.addEventListener("change", () => { state[kind] = check.checked; filter(); });
    }
    const which = byId("which");
    which.addEventListener("change", () => { state.which = which.value; filter(); });
    byId("in").addEventListener("click", () => panels.forEach((p) => p.zoom(1.25)));
    byId("out").addEventListener("click", () => panels.forEach((p) => p.zoom(0.8)));
    byId("reset").addEventListener("click", () => panels.forEach((p) => p.whole()));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw, until);
    matchMedia("print").addEventListener("change", paint, until); // at once: the printer does not wait for a frame
    const panels = [];
    choices(); coloring();
    if (pair) panels.push(panel(byId("before"), () => views[0], byId("name-before")));
    panels.push(panel(byId("plot"), () => views[state.view], byId("name-plot")));
    paint();
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
    // both: the rows of a link side by side.
    const both = (s) => {
      const box = byId("both");
      box.replaceChildren();
      const cells = s.cells || features.map((f) => [f.name, digits(f.at(s.i)), digits(f.at(s.j))]);
      if (!cells.length) return;
      const table = element("table", undefined, box), titles = element("tr", undefined, element("thead", undefined, table)), rows = element("tbody", undefined, table);
      for (const title of [s.link + "-link", name(s.i), name(s.j)]) element("th", title, titles).scope = "col";
      for (const [title, ...two] of cells) {
        const row = element("tr", undefined, rows);
        element("th", title, row).scope = "row";
        for (const text of two) element("td", text, row).className = s.cells ? "" : "n";
      }
    };
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
        const pick = () => { for (const r of body.rows) r.setAttribute("aria-selected", String(r === row)); drawn.show(s); both(s); };
        row.addEventListener("click", pick);
        row.addEventListener("keydown", (e) => { if (e.key === "Enter" || e.key === " ") { pick(); e.preventDefault(); } });
      }
      count.textContent = rows.length > most ? `the first ${most} of ${rows.length}` : `${rows.length} of ${DATA.suspects.length}`;
    };
    kind.addEventListener("change", fill);
    filter.addEventListener("input", fill);
    fill();
    both(DATA.suspects.reduce((worst, s) => (s.excess > worst.excess ? s : worst)));
  };
  if (byId("suspects")) suspects();
  return { end: () => ended.abort() };
};
