"use strict";
// Draws the charts from the JSON in the page, and lets them be read by pointer and by keyboard. Names reach the page
// as text alone (textContent), never as markup.
(() => {
  const data = JSON.parse(document.getElementById("report-data").textContent);
  const charts = [];

  const make = (name, attributes, parent, text) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text !== undefined) node.textContent = text;
    if (parent) parent.append(node);
    return node;
  };

  // Numbers as they are read.
  const short = (v) => {
    if (v === null || v === undefined) return "\u2013";
    if (Number.isInteger(v) && Math.abs(v) < 1e15) return v.toLocaleString("en-US");
    return Math.abs(v) >= 1e-3 && Math.abs(v) < 1e6 ? String(Number(v.toPrecision(5))) : v.toExponential(2);
  };
  const powerOfTen = (e) => "10" + [...String(e)].map((c) => "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079"["0123456789".indexOf(c)] || "\u207b").join("");
  const tickName = (v, log) => {
    const e = Math.log10(Math.abs(v));
    if (log && (e >= 4 || e <= -3) && Math.abs(e - Math.round(e)) < 1e-9) return powerOfTen(Math.round(e));
    if (v !== 0 && (Math.abs(v) >= 1e5 || Math.abs(v) < 1e-4)) return v.toExponential(0).replace("e+", "e");
    return String(Number(v.toPrecision(6)));
  };

  // A scale maps values to pixels and knows its ticks.
  const scale = (values, from, to, log, most, tight = false) => {
    const of = log ? Math.log10 : (v) => v;
    let low = Infinity, high = -Infinity;
    for (const v of values) [low, high] = [Math.min(low, of(v)), Math.max(high, of(v))];
    if (!(low < high)) [low, high] = [low - (log ? 0.5 : Math.abs(low) / 10 || 1), high + (log ? 0.5 : Math.abs(high) / 10 || 1)];
    const room = (high - low) / 25; // so that no value lies on the frame
    if (!tight) [low, high] = [low - room, high + room];
    let ticks = [];
    if (log && high - low >= 1.2) {
      const step = Math.max(1, Math.ceil((high - low) / most));
      for (let e = Math.ceil(low / step - 1e-9) * step; e <= high + 1e-9; e += step) ticks.push(10 ** e);
    } else if (log) {
      for (let e = Math.floor(low); e <= high; e++) for (const m of [1, 2, 5]) ticks.push(m * 10 ** e);
      ticks = ticks.filter((v) => of(v) >= low - 1e-9 && of(v) <= high + 1e-9);
    } else {
      const raw = (high - low) / most, base = 10 ** Math.floor(Math.log10(raw));
      const step = base * [1, 2, 5, 10].find((m) => m * base >= raw);
      for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) ticks.push(Number((k * step).toPrecision(12)));
    }
    return { at: (v) => from + ((of(v) - low) / (high - low)) * (to - from), ticks, log };
  };

  class Chart {
    // build() tells what to draw: series of points {x, y, low?, high?, text}, axes {name, log}, marks {x, name}.
    constructor(plot, live, build) {
      Object.assign(this, { plot, live, build, chosen: null });
      this.tip = document.createElement("div");
      this.tip.className = "tip";
      this.tip.hidden = true;
      plot.addEventListener("pointermove", (event) => this.point(event));
      plot.addEventListener("pointerdown", (event) => this.point(event));
      plot.addEventListener("pointerleave", () => this.choose(null));
      plot.addEventListener("keydown", (event) => this.key(event));
      plot.addEventListener("blur", () => this.choose(null));
      charts.push(this);
      this.draw();
    }

    draw(width = this.plot.clientWidth) {
      if (!width) return;
      this.width = width;
      const spec = (this.spec = this.build());
      const height = Math.round(Math.min(380, Math.max(230, width * 0.5)));
      const box = { left: 66, right: width - 14, top: spec.marks?.length ? 40 : 12, bottom: height - 42 };
      const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true" });
      const points = spec.series.flatMap((s) => s.points);
      this.plot.replaceChildren(svg, this.tip);
      this.tip.hidden = true;
      this.chosen = null;
      if (!points.length) {
        make("text", { x: width / 2, y: height / 2, "text-anchor": "middle" }, svg, "Nothing to show: tick a quantity above.");
        this.box = null;
        return;
      }
      const x = scale(spec.x.values || points.map((p) => p.x), box.left, box.right, spec.x.log, Math.max(3, Math.floor(width / 95)));
      const ys = points.flatMap((p) => [p.y, p.low ?? p.y, p.high ?? p.y]);
      const y = scale(spec.y.zero ? [0, ...ys] : ys, box.bottom, box.top + 4, spec.y.log, 7, spec.y.zero);
      Object.assign(this, { svg, box, at: (p) => [x.at(p.x), y.at(p.y)] });
      this.axes(svg, box, x, y, spec);
      (spec.marks || []).forEach((mark, k) => this.mark(svg, box, x.at(mark.x), mark, 11 + 15 * k));
      this.lines = spec.series.map((s) => this.line(svg, s, x, y, spec.series.length > 2));
      this.hover = make("g", {}, svg);
    }

    axes(svg, box, x, y, spec) {
      for (const v of y.ticks) {
        make("line", { class: "grid", x1: box.left, x2: box.right, y1: y.at(v), y2: y.at(v) }, svg);
        make("text", { x: box.left - 8, y: y.at(v) + 4, "text-anchor": "end" }, svg, tickName(v, y.log));
      }
      for (const v of x.ticks) {
        make("line", { class: "frame", x1: x.at(v), x2: x.at(v), y1: box.bottom, y2: box.bottom + 5 }, svg);
        make("text", { x: x.at(v), y: box.bottom + 19, "text-anchor": "middle" }, svg, tickName(v, x.log));
      }
      make("line", { class: "frame", x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom }, svg);
      make("text", { x: (box.left + box.right) / 2, y: box.bottom + 37, "text-anchor": "middle" }, svg, spec.x.name);
      const turned = `translate(13 ${(box.top + box.bottom) / 2}) rotate(-90)`;
      make("text", { transform: turned, "text-anchor": "middle" }, svg, spec.y.name);
    }

    mark(svg, box, x, mark, row) {
      const kind = mark.second ? " second" : "";
      make("line", { class: "mark" + kind, x1: x, x2: x, y1: row + 5, y2: box.bottom }, svg);
      const half = 3.6 * mark.name.length; // half the width of the name, which must not leave the chart
      const middle = Math.min(Math.max(x, box.left + half), box.right + 10 - half);
      make("text", { class: "mark-name" + kind, x: middle, y: row, "text-anchor": "middle" }, svg, mark.name);
    }

    line(svg, s, x, y, many) {
      const path = s.points.map((p, k) => `${k ? "L" : "M"}${x.at(p.x).toFixed(1)} ${y.at(p.y).toFixed(1)}`).join("");
      const line = make("path", { class: `line ${s.kind}${many ? " many" : ""}`, d: path }, svg);
      for (const p of s.points) {
        if (p.low !== undefined) {
          make("path", { class: `line ${s.kind}`, d: `M${x.at(p.x) - 4} ${y.at(p.low)}h8M${x.at(p.x)} ${y.at(p.low)}V${y.at(p.high)}M${x.at(p.x) - 4} ${y.at(p.high)}h8` }, svg);
        }
        if (s.dots || s.points.length === 1) make("circle", { class: s.kind, cx: x.at(p.x), cy: y.at(p.y), r: 3.5 }, svg);
      }
      return line;
    }

    point(event) {
      if (!this.box) return;
      const bounds = this.svg.getBoundingClientRect();
      const factor = this.width / bounds.width;
      const px = (event.clientX - bounds.left) * factor, py = (event.clientY - bounds.top) * factor;
      let best = null, least = Infinity;
      this.spec.series.forEach((s, k) => s.points.forEach((p, i) => {
        const [x, y] = this.at(p);
        const distance = (x - px) ** 2 + ((y - py) ** 2) / 4; // along the axis counts more than across it
        if (distance < least) [best, least] = [[k, i], distance];
      }));
      this.choose(best);
    }

    key(event) {
      if (!this.box) return;
      const { series } = this.spec;
      let [k, i] = this.chosen || [0, -1];
      const last = (n) => series[n].points.length - 1;
      const turn = (step) => {
        const x = i < 0 ? null : series[k].points[i].x;
        do k = (k + step + series.length) % series.length; while (!series[k].points.length);
        const distance = (p) => Math.abs(p.x - x);
        i = x === null ? 0 : series[k].points.reduce((b, p, j) => (distance(p) < distance(series[k].points[b]) ? j : b), 0);
      };
      if (!series[k].points.length) turn(1);
      if (event.key === "ArrowRight") i = Math.min(i + 1, last(k));
      else if (event.key === "ArrowLeft") i = Math.max(i - 1, 0);
      else if (event.key === "Home") i = 0;
      else if (event.key === "End") i = last(k);
      else if (event.key === "ArrowDown") turn(1);
      else if (event.key === "ArrowUp") turn(-1);
      else if (event.key === "Escape") return this.choose(null);
      else return;
      event.preventDefault();
      this.choose([k, Math.max(i, 0)]);
      this.live.textContent = this.tip.textContent.replaceAll("\n", ", ");
    }

    choose(chosen, quietly = false) {
      if (!this.box) return;
      if (this.chosen) this.lines[this.chosen[0]].classList.remove("chosen");
      this.chosen = chosen;
      this.hover.replaceChildren();
      this.tip.hidden = !chosen;
      if (this.linked && !quietly) this.linked(chosen);
      if (!chosen) return;
      const s = this.spec.series[chosen[0]], p = s.points[chosen[1]], [x, y] = this.at(p);
      if (this.lines.length > 1) this.lines[chosen[0]].classList.add("chosen");
      make("line", { class: "hair", x1: x, x2: x, y1: this.box.top, y2: this.box.bottom }, this.hover);
      make("circle", { class: `spot ${s.kind}`, cx: x, cy: y, r: 5.5 }, this.hover);
      this.tip.textContent = p.text;
      const shown = this.svg.getBoundingClientRect().width / this.width;
      const left = x * shown > this.plot.clientWidth / 2 ? x * shown - this.tip.offsetWidth - 14 : x * shown + 14;
      this.tip.style.left = `${Math.max(0, Math.min(left, this.plot.clientWidth - this.tip.offsetWidth))}px`;
      this.tip.style.top = `${Math.max(0, Math.min(y * shown - this.tip.offsetHeight - 10, this.plot.clientHeight - this.tip.offsetHeight))}px`;
    }
  }

  const controls = (figure) => {
    const form = figure.querySelector("form");
    form.addEventListener("submit", (event) => event.preventDefault());
    return form;
  };

  const convergence = (figure) => {
    const form = controls(figure), { problems } = data.convergence;
    const names = { objective: "objective", lower_bound: "lower bound", gap: "relative gap", violation: "violation" };
    const kinds = { objective: "a", lower_bound: "a dashed", gap: "b", violation: "c" };
    for (const m of problems) {
      // Between two certificates the gap is that of the bounds so far; an objective of zero has none.
      const between = (i) => (m.objective[i] === null || m.lower_bound[i] === null || !m.objective[i] ? null
        : Math.min(1, (m.objective[i] - m.lower_bound[i]) / Math.abs(m.objective[i])));
      const rounding = 1e-16; // smaller gaps are drawn as this one
      m.gap = m.gap.map((gap, i) => (gap === null ? between(i) : gap)).map((gap) => (gap === null ? null : Math.max(gap, rounding)));
      // Zero is a better lower bound than one below it, if the objective cannot be negative.
      if (m.objective.at(-1) > 0) m.lower_bound = m.lower_bound.map((v) => (v === null || v < 0 ? null : v));
    }
    const about = (m, i) => [m.name && `class ${m.name}`, `iteration ${short(m.sweeps[i])}, ${short(m.seconds[i])} s`, `${short(m.steps[i])} steps`,
      m.objective[i] !== null && `objective ${short(m.objective[i])}`, m.lower_bound[i] !== null && `lower bound ${short(m.lower_bound[i])}`,
      m.gap[i] !== null && `relative gap ${short(m.gap[i])}`, `violation ${short(m.violation[i])}`].filter(Boolean).join("\n");
    const build = (part) => () => {
      const wanted = new FormData(form), x = wanted.get("x"), ylog = wanted.has("ylog"), xlog = wanted.has("xlog");
      const only = wanted.get("problem");
      const shown = only ? [problems[Number(only)]] : problems;
      const quantities = part === "bounds" ? ["objective", "lower_bound"] : ["gap", "violation"].filter((q) => wanted.has(q));
      const log = ylog && !(part === "bounds" && shown.some((m) => m.objective.at(-1) <= 0));
      const series = quantities.flatMap((quantity) => shown.map((m) => ({
        kind: kinds[quantity],
        dots: m[quantity].length <= 40 && shown.length <= 3,
        points: m.sweeps.map((sweep, i) => ({ x: m[x][i], y: m[quantity][i], text: about(m, i) }))
          .filter((p) => p.y !== null && (!log || p.y > 0) && (!xlog || p.x > 0)),
      }))).filter((s) => s.points.length);
      // Where another engine took over; of many problems that would be too many lines.
      const marks = shown.length > 1 ? [] : shown.flatMap((m) => m.phase.flatMap((p, i) => (i && p !== m.phase[i - 1]
        ? [{ x: (m[x][i] + m[x][i - 1]) / 2, name: m.engines[p] || "", second: true }] : [])));
      return {
        series,
        marks: marks.slice(0, 2),
        x: { name: x, log: xlog },
        y: { name: quantities.map((q) => names[q]).join(", "), log, zero: !log && part !== "bounds" },
      };
    };
    const live = figure.querySelector(".live");
    const drawn = [...figure.querySelectorAll(".plot")].map((plot) => new Chart(plot, live, build(plot.dataset.part)));
    form.addEventListener("change", () => {
      drawn[0].plot.hidden = !form.elements.bounds.checked;
      drawn[1].plot.hidden = !form.elements.gap.checked && !form.elements.violation.checked;
      for (const chart of drawn) chart.draw();
    });
  };

  const cPath = (figure) => {
    const form = controls(figure), { cells, best, one_se: oneSe, scoring } = data.path;
    const marks = [];
    if (best !== null) marks.push({ x: best, name: `best ${short(best)}` });
    if (oneSe !== null && oneSe !== best) marks.push({ x: oneSe, name: `one SE ${short(oneSe)}`, second: true });
    const axis = { name: "C", log: true, values: cells.map((c) => c.C) };
    const text = (c) => [`C ${short(c.C)}`, `${scoring} ${short(c.mean)}${c.error === null ? "" : ` \u00b1 ${short(c.error)}`}`,
      `${short(c.seconds)} s`, c.gap !== null && `largest gap ${short(c.gap)}`].filter(Boolean).join("\n");
    const parts = {
      score: () => ({
        series: [{ kind: "a", dots: true, points: cells.filter((c) => c.mean !== null).map((c) => ({
          x: c.C, y: c.mean, text: text(c), ...(c.error === null ? {} : { low: c.mean - c.error, high: c.mean + c.error }) })) }],
        x: axis, y: { name: `mean ${scoring}`, log: false }, marks,
      }),
      seconds: () => {
        const log = form.elements.ylog.checked;
        const points = cells.filter((c) => c.seconds !== null && (!log || c.seconds > 0)).map((c) => ({ x: c.C, y: c.seconds, text: text(c) }));
        return { series: [{ kind: "b", dots: true, points }], x: axis, y: { name: "seconds", log, zero: !log }, marks };
      },
    };
    const live = figure.querySelector(".live");
    const drawn = [...figure.querySelectorAll(".plot")].map((plot) => new Chart(plot, live, parts[plot.dataset.part]));
    for (const one of drawn) {
      one.linked = (chosen) => {
        for (const other of drawn) {
          if (other === one || !other.box || other.plot.hidden) continue;
          const C = chosen && one.spec.series[0].points[chosen[1]].x;
          const i = chosen ? other.spec.series[0].points.findIndex((p) => p.x === C) : -1;
          other.choose(i < 0 ? null : [0, i], true);
          other.tip.hidden = true; // one tip tells it all
        }
      };
    }
    form.addEventListener("change", () => {
      for (const one of drawn) one.plot.hidden = !form.elements[one.plot.dataset.part].checked;
      for (const one of drawn) one.draw();
    });
  };

  for (const figure of document.querySelectorAll("figure[data-chart]")) {
    if (figure.dataset.chart === "convergence") convergence(figure);
    else cPath(figure);
  }
  const redraw = () => charts.forEach((chart) => chart.plot.clientWidth !== chart.width && chart.draw());
  addEventListener("resize", redraw);

  // On paper everything is open, and charts have a width that fits.
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details.fold:not([open])")];
    folded.forEach((one) => { one.open = true; });
    charts.forEach((chart) => chart.draw(chart.plot.parentElement.className === "pair" ? 380 : 720));
  });
  addEventListener("afterprint", () => {
    folded.forEach((one) => { one.open = false; });
    charts.forEach((chart) => chart.draw());
  });

  const remembered = { get: () => { try { return localStorage.getItem("hingeline-theme"); } catch { return null; } },
    set: (v) => { try { localStorage.setItem("hingeline-theme", v); } catch { /* a page without storage forgets */ } } };
  const button = document.getElementById("theme"), themes = ["auto", "light", "dark"];
  const show = (theme) => {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    button.textContent = `Theme: ${theme}`;
  };
  let theme = themes.includes(remembered.get()) ? remembered.get() : "auto";
  show(theme);
  button.hidden = false;
  button.addEventListener("click", () => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length];
    show(theme);
    remembered.set(theme);
  });

  if (navigator.clipboard) {
    for (const copy of document.querySelectorAll(".copy")) {
      copy.hidden = false;
      copy.addEventListener("click", async () => {
        try {
          await navigator.clipboard.writeText(copy.parentElement.querySelector("code").textContent);
          copy.textContent = "Copied";
        } catch { copy.textContent = "Not allowed"; }
        setTimeout(() => { copy.textContent = "Copy"; }, 1500);
      });
    }
  }
})();
