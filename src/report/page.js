"use strict";
(function () {
	var data = JSON.parse(document.getElementById("data").textContent);
	var root = document.documentElement, table = document.getElementById("findings"), body = table.tBodies[0];
	var rows = Array.prototype.filter.call(body.rows, function (r) { return r.id; });
	/* Names of fields stand once, not with every finding. Of those that end in "#" values are places in a list of texts, in "@" rows. */
	data.runs.forEach(function (run) {
		run.findings = run.findings.map(function (values) {
			var f = {};
			data.fields.forEach(function (name, i) {
				var v = values[i], from = v === null ? "" : name.slice(-1);
				f[name.replace(/[#@]$/, "")] = from === "#" ? data.texts[v] : from === "@" ? rows[v].id : v;
			});
			return f;
		});
	});
	var filter = document.getElementById("filter"), shown = document.getElementById("shown"), wanted = {};
	var byKey = data.runs.map(function (run) {
		var m = {};
		run.findings.forEach(function (f) { m[f.key] = f; });
		return m;
	});
	var order = rows.slice();
	function verdict(r) { return (/v-(\w+)/.exec(r.className) || ["", "measured"])[1]; }
	root.classList.add("on");

	/* ---- filter, chips, sort ---- */
	function words() { return filter.value.toLowerCase().split(/\s+/).filter(Boolean); }
	function apply() {
		var w = words(), any = Object.keys(wanted).some(function (v) { return wanted[v]; }), n = 0;
		rows.forEach(function (r) {
			var text = (r.id + " " + r.textContent).toLowerCase();
			var ok = w.every(function (x) { return text.indexOf(x) >= 0; }) && (!any || wanted[verdict(r)]);
			r.hidden = !ok;
			if (r.nextSibling && r.nextSibling.className === "details") r.nextSibling.hidden = !ok;
			n += ok;
		});
		shown.textContent = n + " of " + rows.length;
	}
	filter.addEventListener("input", apply);
	document.querySelectorAll("[data-chip]").forEach(function (b) {
		b.addEventListener("click", function () {
			wanted[b.dataset.chip] = !wanted[b.dataset.chip];
			b.setAttribute("aria-pressed", String(wanted[b.dataset.chip]));
			apply();
		});
	});
	/* A cell's number: of a value column the finding's, of the ratio what stands there. */
	function number(row, column, cell) {
		if (column < 1 || column > data.runs.length) return parseFloat(cell.textContent);
		var f = byKey[column - 1][row.id];
		return f && typeof f.value === "number" && !/ABSENT|BOUND/.test(f.verdict) ? f.value : NaN;
	}
	table.querySelectorAll("th").forEach(function (th, column) {
		var b = document.createElement("button"), up = true;
		b.textContent = th.textContent;
		b.type = "button";
		th.textContent = "";
		th.appendChild(b);
		b.addEventListener("click", function () {
			var sorted = rows.slice().sort(function (p, q) {
				var a = p.cells[column], c = q.cells[column], x = number(p, column, a), y = number(q, column, c);
				var by = isNaN(x) || isNaN(y) ? isNaN(x) - isNaN(y) || a.textContent.localeCompare(c.textContent) : x - y;
				return up ? by : -by;
			});
			body.querySelectorAll(".details").forEach(function (d) { d.remove(); });
			sorted.forEach(function (r) { r.classList.remove("open"); body.appendChild(r); });
			table.querySelectorAll("th").forEach(function (o) { o.removeAttribute("aria-sort"); });
			th.setAttribute("aria-sort", up ? "ascending" : "descending");
			up = !up;
		});
	});

	/* ---- what stands behind a finding ---- */
	function glob(pattern, key) {
		return new RegExp("^" + pattern.replace(/[.+^${}()|[\]\\]/g, "\\$&").replace(/\*/g, ".*").replace(/\?/g, ".") + "$").test(key);
	}
	function pair(dl, name, text) {
		if (!text) return;
		var dt = document.createElement("dt"), dd = document.createElement("dd");
		dt.textContent = name;
		if (text instanceof Node) dd.appendChild(text); else dd.textContent = text;
		dl.append(dt, dd);
	}
	function end(v) { return v === null ? "open" : String(v); }
	function figuresOf(key) {
		var span = document.createElement("span");
		data.figures.forEach(function (f) {
			if (!f.keys.some(function (k) { return glob(k, key); })) return;
			var a = document.createElement("a");
			a.href = "#figure-" + f.name;
			a.textContent = f.title;
			span.append(a, document.createElement("br"));
		});
		return span.childNodes.length ? span : null;
	}
	function conditions(run, f) {
		var c = (run.conditions || {})[f.probe];
		return c ? "SM " + end(c[0]) + " MHz before, " + end(c[1]) + " MHz after" : "";
	}
	function second(f) {
		var r = f.rival, ring = r.ring;
		return [r.value, f.unit, "(" + r.shape + "),", Math.round(r.nats), "nats less probable; parted by the ring of", ring.bytes, "bytes in steps of",
			ring.step + ":", ring.misses, "of", ring.visits, "accesses missed, at least", ring.best_least, "have to by the best, and", ring.least, "by the second"].join(" ");
	}
	function native(run, f) {
		return f.evidence.map(function (e) { return run.native[f.probe + "/" + e]; }).filter(Boolean).join("; ");
	}
	function open(row) {
		if (row.nextSibling && row.nextSibling.className === "details") {
			row.nextSibling.remove();
			row.classList.remove("open");
			return;
		}
		var tr = document.createElement("tr"), td = document.createElement("td"), dl = document.createElement("dl");
		pair(dl, "meaning", data.meanings[data.of[order.indexOf(row)]]);
		byKey.forEach(function (keys, i) {
			var f = keys[row.id];
			if (!f) return;
			if (data.runs.length > 1) pair(dl, "run", data.names[i]);
			pair(dl, "verdict", f.verdict + (f.scope ? ", of one " + f.scope : ""));
			pair(dl, "value", f.value === null ? "" : [].concat(f.value).join(", ") + " " + f.unit);
			if (f.lo !== null || f.hi !== null) pair(dl, "interval", end(f.lo) + " to " + end(f.hi));
			pair(dl, "reason", f.because);
			if (f.rival) pair(dl, "second", second(f));
			pair(dl, "method", f.method);
			pair(dl, "evidence", f.evidence.join(", "));
			pair(dl, "native code", native(data.runs[i], f));
			pair(dl, "clocks", conditions(data.runs[i], f));
		});
		var first = byKey.map(function (k) { return k[row.id]; }).filter(Boolean)[0], p = first && data.probes[first.probe];
		if (p) {
			pair(dl, "probe", first.probe + ": " + p.asks);
			pair(dl, "how", p.how);
			pair(dl, "what can fool it", p.fooled);
			pair(dl, "measure only this", "fathom run -p " + first.probe);
		}
		pair(dl, "figures", figuresOf(row.id));
		tr.className = "details";
		td.colSpan = row.cells.length;
		td.appendChild(dl);
		tr.appendChild(td);
		row.after(tr);
		row.classList.add("open");
	}
	rows.forEach(function (r) {
		r.cells[0].firstElementChild.href = "#" + r.id;
		r.cells[0].firstElementChild.addEventListener("click", function (e) {
			e.preventDefault();
			history.replaceState(null, "", "#" + r.id);
			open(r);
		});
	});
	function permalink() {
		var r = document.getElementById(decodeURIComponent(location.hash.slice(1)));
		if (!r || rows.indexOf(r) < 0) return;
		if (r.hidden) { filter.value = ""; wanted = {}; apply(); }
		if (!r.classList.contains("open")) open(r);
		r.scrollIntoView({block: "center"});
	}
	addEventListener("hashchange", permalink);

	/* ---- zoom ---- */
	var powers = [];
	for (var power = 1; power < 1e15; power *= 2) powers.push(power);
	var units = ["B", "KB", "MB", "GB", "TB"];
	function tick(unit, v) {
		if (v === null || unit !== "bytes") return v === null ? "" : String(+v.toPrecision(4));
		for (var i = 0; v >= 1024 && i < 4; i++) v /= 1024;
		return +v.toPrecision(4) + " " + units[i];
	}
	/* A band is its two edges there. */
	function edges(m, i) {
		var one = {label: m.label, style: m.style, x: m.x, y: m.y, colour: data.colours[i]};
		return m.y2 ? [one, {label: m.label, style: m.style, x: m.x, y: m.y2, colour: one.colour}] : [one];
	}
	function zoom(holder, f) {
		var marks = Array.prototype.concat.apply([], f.marks.map(edges));
		var tables = marks.map(function (m) {
			var at = m.x.map(function (x, i) { return i; }).sort(function (a, b) { return m.x[a] - m.x[b]; });
			return [at.map(function (i) { return m.x[i]; }), at.map(function (i) { return m.y[i]; })];
		});
		var style = getComputedStyle(document.body), ink = style.color, line = style.getPropertyValue("--line");
		function axis(a) {
			return {label: a.unit && a.unit !== "bytes" ? a.label + " (" + a.unit + ")" : a.label, stroke: ink, grid: {stroke: line, width: 1}, size: 60,
				incrs: a.unit === "bytes" && !a.log2 ? powers : undefined,
				values: function (u, vs) { return vs.map(function (v) { return tick(a.unit, v); }); }};
		}
		var svg = holder.querySelector("svg"), width = svg.getBoundingClientRect().width;
		var options = {width: width, height: Math.max(260, width * 0.55), cursor: {drag: {x: true, y: true, uni: 20}},
			scales: {x: {time: false, distr: f.x.log2 ? 3 : 1, log: 2}, y: {distr: f.y.log2 ? 3 : 1, log: f.y.log2 ? 2 : 10}},
			axes: [axis(f.x), axis(f.y)],
			series: [{label: f.x.label, value: function (u, v) { return tick(f.x.unit, v); }}].concat(marks.map(function (m) {
				var dots = m.style === "points";
				return {label: m.label, stroke: m.colour === "#222222" ? ink : m.colour, width: 2, spanGaps: true,
					paths: dots ? function () { return null; } : undefined, points: {show: dots || undefined},
					value: function (u, v) { return tick(f.y.unit, v); }};
			}))};
		svg.setAttribute("hidden", "");
		var div = document.createElement("div");
		svg.after(div);
		var plot = new uPlot(options, uPlot.join(tables), div);
		addEventListener("resize", function () {
			var w = div.getBoundingClientRect().width;
			if (w > 0) plot.setSize({width: w, height: Math.max(260, w * 0.55)});
		});
		return div;
	}
	document.querySelectorAll("button.zoom").forEach(function (b) {
		var div = null;
		b.addEventListener("click", function () {
			var holder = b.parentNode, f = data.figures.filter(function (x) { return "figure-" + x.name === holder.id; })[0];
			if (div) {
				div.remove();
				div = null;
				holder.querySelector("svg").removeAttribute("hidden");
			} else {
				div = zoom(holder, f);
			}
			b.textContent = div ? "drawing" : "zoom";
			b.setAttribute("aria-label", b.textContent + ": " + f.title);
		});
	});

	/* ---- to take along ---- */
	function save(name, type, text) {
		var a = document.createElement("a");
		a.href = URL.createObjectURL(new Blob([text], {type: type}));
		a.download = name;
		a.click();
		setTimeout(function () { URL.revokeObjectURL(a.href); }, 1000);
	}
	function cell(v) {
		if (/^\s*[=+\-@]/.test(v) && isNaN(v)) v = "'" + v; /* spreadsheets would compute it */
		return /[",\n]/.test(v) ? '"' + v.replace(/"/g, '""') + '"' : v;
	}
	document.getElementById("json").addEventListener("click", function () {
		save("fathom.json", "application/json", JSON.stringify(data.runs.length > 1 ? data.runs : data.runs[0], null, 1));
	});
	document.getElementById("csv").addEventListener("click", function () {
		var fields = ["key", "verdict", "value", "lo", "hi", "unit", "method", "because", "scope", "probe"], lines = ["run," + fields.join(",")];
		data.runs.forEach(function (run, i) {
			run.findings.forEach(function (f) {
				lines.push([data.names[i]].concat(fields.map(function (k) { return f[k] === null ? "" : [].concat(f[k]).join(" "); })).map(cell).join(","));
			});
		});
		save("fathom.csv", "text/csv", lines.join("\n") + "\n");
	});
	apply();
	permalink();
})();
