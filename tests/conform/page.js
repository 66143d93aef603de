// Pages of `fathom report --html`, and fleet.html of `fathom fleet --html`, in a browser: node page.js PLAYWRIGHT-CORE AXE-CORE CHROMIUM PAGE.html ...
"use strict";
const {chromium} = require(process.argv[2]);
const axe = require("fs").readFileSync(process.argv[3] + "/axe.min.js", "utf8");
const url = require("url");
const wrong = [];
const expect = (ok, what) => { if (!ok) wrong.push(what); };

/* Of every page: nothing asked for, nothing said, no violation in light or dark, no overflow, texts that stay texts. */
async function open(browser, path, name, rest) {
	const said = [], asked = [];
	const context = await browser.newContext({viewport: {width: 1280, height: 900}, bypassCSP: false});
	const page = await context.newPage();
	page.on("console", m => { if (m.type() === "error") said.push(m.text()); });
	page.on("pageerror", e => said.push(String(e)));
	page.on("request", r => { if (!r.url().startsWith("file:")) asked.push(r.url()); });
	const address = url.pathToFileURL(path).href, began = Date.now();
	await page.goto(address);
	expect(Date.now() - began < 5000, `${name}: not ready within 5 s`);
	await rest(page, address);
	await page.evaluate(axe);
	const found = await page.evaluate(() => axe.run(document, {resultTypes: ["violations"]}));
	found.violations.forEach(v => wrong.push(`${name}: axe: ${v.id}: ${v.help}: ${v.nodes[0].html.slice(0, 120)} (${v.nodes.length})`));
	await page.emulateMedia({colorScheme: "dark"});
	const dark = await page.evaluate(() => axe.run(document, {runOnly: ["color-contrast"]}));
	dark.violations.forEach(v => wrong.push(`${name}, dark: axe: ${v.id}: ${v.nodes[0].html.slice(0, 120)} (${v.nodes.length})`));
	await page.setViewportSize({width: 390, height: 800});
	await page.waitForTimeout(50);
	const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
	expect(over <= 0, `${name}: ${over} pixels too wide at 390`);
	const small = await page.evaluate(() => Math.min(...[...document.querySelectorAll("svg.plot text")].slice(0, 400)
		.filter(t => t.textContent && t.getClientRects().length && !t.closest("[transform]")).map(t => t.getBoundingClientRect().height).filter(h => h > 0)));
	const narrow = await page.evaluate(() => Math.min(...[...document.querySelectorAll("th")].map(t => t.getBoundingClientRect().width).filter(w => w > 0)));
	expect(narrow >= 28, `${name}: a column is ${narrow} pixels wide at 390`);
	expect(small >= 10, `${name}: text of a drawing is ${small} pixels high at 390`);
	expect(!said.length, `${name}: the console says ${said[0]}`);
	expect(!asked.length, `${name}: it asks for ${asked[0]}`);
	expect(await page.evaluate(() => !window.hostile && !document.querySelector("img")), `${name}: a text became an element`);
	await context.close();
	return address;
}

/* Many cards: the one that differs is named, its value and how far it is off are shown, on a phone too. */
async function fleet(page, name) {
	expect(/ differ/.test(await page.locator("h1").textContent()), `${name}: its headline does not say how many differ`);
	await page.setViewportSize({width: 390, height: 800});
	expect(await page.locator("tr.apart").count() === 1, `${name}: not one card is marked`);
	expect(await page.locator("table td:visible", {hasText: "+25 %"}).count() > 0, `${name}: how far it is off is not shown`);
	expect(await page.locator("svg.plot").count() === 1 && await page.locator("svg.plot text", {hasText: "."}).count() > 0, `${name}: no map`);
	await page.setViewportSize({width: 1280, height: 900});
}

async function report(page, address, name) {
	expect(await page.evaluate(() => document.documentElement.classList.contains("on")), `${name}: its program did not run`);
	const cards = await page.evaluate(() => {
		const of = {};
		const data = JSON.parse(document.getElementById("data").textContent), key = data.fields.indexOf("key@"), value = data.fields.indexOf("value");
		const row = [...document.querySelectorAll("#findings tbody tr[id]")].map(r => r.id);
		data.runs.forEach(r => r.findings.forEach(f => { (of[row[f[key]]] = of[row[f[key]]] || []).push(f[value]); }));
		return [...document.querySelectorAll(".cards a")].map(a => {
			const m = /([\d.]+)\s*([kKMGTPmun]?)(B|)/.exec(a.querySelector("strong").textContent), p = a.querySelector("strong").textContent;
			const si = {"": 1, k: 1e3, K: 1024, M: /B\/s|op\/s|Hz/.test(p) ? 1e6 : 1048576, G: /B\/s|op\/s|Hz/.test(p) ? 1e9 : 1073741824, T: 1e12, m: 1e-3, u: 1e-6, n: 1e-9};
			const shown = parseFloat(m[1]) * (/cycle/.test(p) ? 1 : si[m[2]]);
			const known = of[a.dataset.key] || [];
			return {key: a.dataset.key, text: p, ok: known.some(v => [1, 1e9].some(s => Math.abs(v * s - shown) <= 0.006 * shown))};
		});
	});
	expect(cards.length >= 4, `${name}: only ${cards.length} cards`);
	cards.filter(c => !c.ok).forEach(c => wrong.push(`${name}: the card of ${c.key} says ${c.text}, its finding does not`));
	const all = await page.locator("#findings tbody tr:visible").count();
	await page.fill("#filter", "latency cycles");
	const few = await page.locator("#findings tbody tr:visible").count();
	expect(few > 0 && few < all, `${name}: the filter leaves ${few} of ${all}`);
	await page.fill("#filter", "");
	await page.locator("[data-chip]").first().click();
	const one = await page.locator("#findings tbody tr:visible").count();
	expect(one > 0 && one < all, `${name}: a verdict's chip leaves ${one} of ${all}`);
	await page.locator("[data-chip]").first().click();
	await page.locator("button.zoom").first().click();
	expect(await page.locator("figure .uplot canvas").count() === 1, `${name}: nothing to zoom into`);
	await page.locator("#findings th button").nth(1).click();
	const key = await page.locator("#findings tbody tr").first().getAttribute("id");
	await page.goto(address + "#" + key);
	await page.waitForTimeout(50);
	expect(await page.locator("tr.open").count() === 1 && await page.locator("tr.details dt").count() > 3, `${name}: the permalink does not open`);
	if (name === "h200.html") {
		await page.goto(address + "#arith.add.f32.latency");
		await page.waitForTimeout(50);
		expect(await page.locator("tr.details dt", {hasText: "native code"}).count() > 0, `${name}: no native code behind a latency`);
	}
}

async function look(browser, path, name) {
	const many = name === "fleet.html";
	const address = await open(browser, path, name, (page, at) => many ? fleet(page, name) : report(page, at, name));
	if (many) return;
	const still = await (await browser.newContext({javaScriptEnabled: false})).newPage();
	await still.goto(address);
	expect(await still.locator("svg").count() > 1 && await still.locator("#findings td").count() > 20, `${name}: without JavaScript it is empty`);
}

(async () => {
	const browser = await chromium.launch({executablePath: process.argv[4], args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync"]});
	for (const path of process.argv.slice(5))
		await look(browser, path, require("path").basename(path));
	await browser.close();
	console.log([`${process.argv.length - 5} pages, ${wrong.length} complaints`].concat(wrong).join("\n"));
	process.exit(wrong.length ? 1 : 0);
})().catch(e => { console.log(String(e)); process.exit(1); });
