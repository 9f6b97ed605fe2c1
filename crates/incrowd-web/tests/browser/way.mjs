// The whole way in a real browser: every step, every error, keyboard and screen reader, light and dark, narrow and wide.
//
//   node way.mjs PROGRAM WORK SHOTS [TABLE ROLES]
//
// PROGRAM is the command `incrowd`, WORK an empty directory, SHOTS where screenshots go. TABLE is a table to go the way with
// beside the demo. Libraries are found from the working directory. Ends with 0 if all is well, else says what is not.
import { createRequire } from "node:module";
import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import assert from "node:assert/strict";

const [program, work, shots, table] = process.argv.slice(2);
const require = createRequire(path.join(process.cwd(), "x.js"));
const { chromium } = require("playwright-core");
const axe = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
fs.mkdirSync(shots, { recursive: true });

const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
  "--disable-sync", "--no-first-run", "--disable-quic"];
const PATIENCE = Number(process.env.PATIENCE || 180_000);

// Starts a server and waits for its address.
async function serve(...given) {
  const server = spawn(program, ["serve", "--no-open", "--json", ...given], { cwd: work, stdio: ["ignore", "pipe", "pipe"] });
  let said = "", talk = "";
  server.stderr.on("data", (piece) => { talk += piece; });
  const address = await new Promise((found, failed) => {
    server.stdout.on("data", (piece) => {
      said += piece;
      const address = /"address": "([^"]+)"/.exec(said);
      if (address) found(address[1]);
    });
    server.on("exit", () => failed(new Error(`the server ended: ${talk}`)));
  });
  return { server, address, talk: () => talk };
}

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: FLAGS });
const problems = [];

async function open(address, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  context.setDefaultTimeout(PATIENCE);
  const page = await context.newPage();
  watch(page);
  await page.goto(address);
  await page.waitForURL((url) => !url.search.includes("token"));
  return page;
}

// Nothing is asked of anybody else, and the console is quiet.
function watch(page) {
  page.on("request", (request) => {
    const host = new URL(request.url()).hostname;
    if (host !== "127.0.0.1" && !request.url().startsWith("data:")) problems.push(`asked ${request.url()}`);
  });
  page.on("console", (message) => {
    const text = message.text();
    // A page that says no is no failure of the page, and neither is a server that is gone.
    if (message.type() === "error" && !/status of (422|404|409)|ERR_CONNECTION/.test(text)) problems.push(`console: ${text}`);
  });
  page.on("pageerror", (error) => problems.push(`script: ${error.message}`));
}

async function accessible(page, name) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"], runOnly: ["wcag2a", "wcag2aa", "wcag21aa"] }));
  for (const violation of found.violations) {
    const where = violation.nodes.slice(0, 3).map((node) => `${node.target} ${node.failureSummary}`).join("\n   ");
    problems.push(`${name}: ${violation.id}: ${violation.help}\n   ${where}`);
  }
}

// The page as it is wide, narrow and dark; nothing runs over the edge.
async function shot(page, name) {
  await accessible(page, name);
  const room = page.viewportSize();
  for (const [kind, width, scheme] of [["wide", 1280, "light"], ["narrow", 360, "light"], ["dark", 1280, "dark"]]) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme: scheme });
    await page.waitForTimeout(60);
    const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    if (over > 1) problems.push(`${name} ${kind}: runs ${over} pixels over the edge`);
    await page.screenshot({ path: path.join(shots, `${name}-${kind}.png`), fullPage: true });
    if (kind !== "wide") await accessible(page, `${name} ${kind}`);
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize(room);
}

const step = (page, name) => page.locator(".steps").getByRole("link", { name }).click();
const settled = async (page) => {
  await page.waitForFunction(() => !document.querySelector("[data-task]"), null, { timeout: PATIENCE });
};
// A role is saved when it is chosen; the new job has an address of its own.
async function choose(page, column, role) {
  const before = page.url();
  await page.getByLabel(`Role of ${column}`).selectOption(role);
  await page.waitForURL((url) => url.href !== before);
  await page.waitForLoadState("load");
  assert.equal(await page.getByLabel(`Role of ${column}`).inputValue(), role);
}
const lines = (file) => fs.readFileSync(file, "utf8").trimEnd().split("\n").sort();

// From the release to the files, and the same release from the job file.
async function toTheEnd(page, name) {
  await step(page, "Check");
  await page.locator(".sentences li").first().waitFor();
  await settled(page);
  assert.match(await page.locator(".sentences").innerText(), /Nobody can be narrowed down below \d+ records/);
  await shot(page, `${name}-6-check`);

  await step(page, "Publish");
  const dir = path.join(work, `${name}-out`);
  await page.getByLabel("Folder").fill("not/a/whole/path");
  await page.getByRole("button", { name: "Make, check and write" }).click();
  await page.getByRole("alert").filter({ hasText: "whole path" }).waitFor();
  await page.getByLabel("Folder").fill(dir);
  await page.getByRole("button", { name: "Make, check and write" }).click();
  await page.locator(".files li").first().waitFor();
  await shot(page, `${name}-7-publish`);
  const files = fs.readdirSync(dir).sort();
  const release = files.find((file) => file.endsWith(".release.csv"));
  const job = files.find((file) => file.endsWith(".job.toml"));
  assert.ok(release && job && files.some((file) => file.endsWith(".release.json")), files.join());
  assert.ok(files.some((file) => file.endsWith(".report.html")) && files.some((file) => file.endsWith(".owner.html")), files.join());

  // The same job file makes the same records, and what is downloaded is what was written.
  const made = lines(path.join(dir, release));
  const told = JSON.parse(fs.readFileSync(path.join(dir, release.replace(".csv", ".json"))));
  const [saved] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Save the job file" }).click()]);
  assert.equal(saved.suggestedFilename(), job);
  const again = path.join(dir, "again.release.csv");
  const ran = spawnSync(program, ["anonymize", job, "-o", again, "--quiet"], { cwd: dir, encoding: "utf8" });
  assert.equal(ran.status, 0, ran.stderr);
  assert.deepEqual(lines(again), made, "the job file makes another release");
  const verified = spawnSync(program, ["verify", path.join(dir, release), "--quiet"], { cwd: dir, encoding: "utf8" });
  assert.equal(verified.status, 0, verified.stdout + verified.stderr);

  // The pages about it open in tabs of their own. Records are on the owner's page alone.
  for (const [i, kind, ending] of [[0, "public", ".report.html"], [1, "owner", ".owner.html"]]) {
    const [report] = await Promise.all([page.context().waitForEvent("page"), page.locator(".files a[target]").nth(i).click()]);
    await report.getByRole("heading", { level: 1 }).waitFor();
    assert.match(await report.locator(".sentences").innerText(), /Nobody can be narrowed down below \d+ records/);
    assert.equal(await report.locator("table.sample").count(), i);
    // Nothing runs on a page that the server sends, not even what looks at it: the same page from its file.
    await report.goto(`file://${path.join(dir, files.find((file) => file.endsWith(ending)))}`);
    await shot(report, `${name}-${8 + i}-${kind}`);
    await report.close();
  }
  return told;
}

async function demo() {
  const { server, address, talk } = await serve();
  const page = await open(address);
  await shot(page, "demo-1-open");

  // Who has no cookie gets nothing, even with the address of a page.
  const stranger = await (await browser.newContext()).newPage();
  assert.equal((await stranger.goto(new URL("/", address).href)).status(), 403);
  await stranger.context().close();

  // Wrong files.
  await page.getByLabel("Path").fill(path.join(work, "nothing-here.csv"));
  await page.locator("form[action='/open'] button").click();
  await page.getByRole("alert").waitFor();
  await shot(page, "error-no-file");
  await page.getByRole("link", { name: "Back" }).click();
  const picture = path.join(work, "picture.csv");
  fs.writeFileSync(picture, Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 3, 0, 0, 0, 9, 255, 254]));
  await page.locator("input[type=file]").setInputFiles(picture);
  await page.locator("form[action='/upload'] button").click();
  await page.getByRole("alert").waitFor();
  await page.goto(new URL("/", address).href);

  // The table.
  await page.getByRole("button", { name: "Open the demo" }).click();
  await page.waitForURL(/\/table$/);
  await page.locator(".big").waitFor();
  await shot(page, "demo-2-table");
  const was = await page.getByLabel("Role of household_size").inputValue();
  assert.notEqual(was, "drop");
  await choose(page, "household_size", "drop");
  await page.goBack();
  assert.equal(await page.getByLabel("Role of household_size").inputValue(), was);
  await page.goForward();
  for (const column of ["hours", "income"]) await choose(page, column, "drop");
  await page.reload();
  assert.equal(await page.getByLabel("Role of income").inputValue(), "drop");
  assert.equal(await page.getByLabel("Role of household_size").inputValue(), "drop");

  // Hierarchies.
  await step(page, "Hierarchies");
  await page.locator(".tabs").getByRole("link", { name: "age", exact: true }).click();
  await page.getByLabel("Intervals, each level twice as wide").check();
  await page.getByLabel("Width").fill("wide");
  await page.getByRole("button", { name: "Use this" }).click();
  await page.getByRole("alert").first().waitFor();
  await page.getByLabel("Width").fill("5");
  await page.getByRole("button", { name: "Use this" }).click();
  await page.locator(".icicle").waitFor();
  await shot(page, "demo-3-hierarchies");
  await page.locator(".tabs").getByRole("link", { name: "sex", exact: true }).click();
  await page.getByLabel("A tree of your own").check();
  await page.getByLabel("One line per value").fill("female;*\nfemale;*;x\n");
  await page.getByRole("button", { name: "Use this" }).click();
  await page.getByRole("alert").first().waitFor();
  await page.getByLabel("One line per value").fill("female;anybody;*\nmale;anybody;*\n");
  await page.getByRole("button", { name: "Use this" }).click();
  await page.locator(".icicle").waitFor();

  // Promises: one more, and one that cannot be kept.
  await step(page, "Promises");
  await shot(page, "demo-4-promises");
  const kept = page.url();
  await page.locator("#content").getByRole("button", { name: "Add l-diversity" }).click();
  await page.getByRole("button", { name: "Remove l-diversity" }).waitFor();
  await page.getByLabel("on", { exact: true }).selectOption("disease");
  await page.locator("#content").getByRole("button", { name: "Save" }).last().click();
  await page.waitForLoadState();
  await page.locator("[data-number]").fill("99999");
  await page.locator("#content").getByRole("button", { name: "Save" }).last().click();
  await page.waitForLoadState();
  await step(page, "Release");
  await page.getByRole("alert").first().waitFor();
  await shot(page, "error-promise");

  // The release follows k, and a second tab stays where it is.
  await page.goto(kept);
  await step(page, "Release");
  await page.locator(".verdict").waitFor();
  const second = await page.context().newPage();
  watch(second);
  await second.goto(page.url());
  const first = page.url();
  await page.locator("[data-range]").focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await page.waitForURL((url) => url.href !== first);
  await page.locator(".facts dd").filter({ hasText: /^12$|^1[2-9]$/ }).first().waitFor();
  assert.equal(await page.locator("[data-number]").inputValue(), "12");
  assert.equal(await second.locator("[data-number]").inputValue(), "10");
  await second.reload();
  assert.equal(await second.locator("[data-number]").inputValue(), "10");
  await second.close();
  await page.goBack();
  await page.waitForFunction(() => document.querySelector("[data-number]")?.value === "10");
  await page.goForward();
  await page.waitForFunction(() => document.querySelector("[data-number]")?.value === "12");
  await page.locator(".verdict").waitFor();
  await settled(page);
  assert.match(await page.locator(".verdict").innerText(), /Made by auto/);

  // A comparison is started, stopped, started again, and one of its marks is taken.
  await page.getByRole("button", { name: "Compare" }).click();
  await page.locator("[data-task$='compare'] button").click();
  await page.getByText("This was stopped.").waitFor();
  await page.getByRole("button", { name: "Start again" }).click();
  await page.locator(".frontier a").first().waitFor();
  await shot(page, "demo-5-release");
  const chosen = page.url();
  await page.locator(".frontier a[aria-label^='mondrian']").last().focus();
  await page.keyboard.press("Enter");
  await page.waitForURL((url) => url.href !== chosen);
  await page.locator(".verdict").waitFor();
  assert.match(await page.locator(".verdict").innerText(), /Made by mondrian/);
  await page.goto(chosen);
  await page.locator(".verdict").waitFor();

  const told = await toTheEnd(page, "demo");
  assert.equal(told.models[0].k, 12);

  // The server goes.
  await step(page, "Release");
  await page.locator(".verdict").waitFor();
  server.kill("SIGINT");
  const code = await new Promise((ended) => server.on("exit", (code, signal) => ended(code ?? signal)));
  assert.equal(code, 0, talk());
  for (let i = 0; i < 4; i += 1) {
    await page.locator("[data-range]").press("ArrowRight");
    await page.waitForTimeout(400);
  }
  await page.locator("#gone").waitFor();
  await page.screenshot({ path: path.join(shots, "error-server-gone.png") });
  assert.equal(talk(), "", "the server says nothing of what it does");
  await page.context().close();
}

async function other() {
  const { server, address } = await serve(table);
  const page = await open(address);
  // The address leads to the table.
  await page.waitForURL(/\/table$/);
  await page.locator(".big").waitFor();
  await shot(page, "table-2-table");
  await step(page, "Hierarchies");
  await page.locator(".tabs").getByRole("link", { name: "native-country" }).click();
  await page.locator(".icicle").waitFor();
  await shot(page, "table-3-hierarchies");
  await step(page, "Promises");
  await page.getByLabel("algorithm", { exact: true }).selectOption("mondrian");
  await page.locator("#content").getByRole("button", { name: "Save" }).last().click();
  await page.waitForLoadState();
  await step(page, "Release");
  await page.locator(".verdict").waitFor();
  await settled(page);
  await shot(page, "table-5-release");
  await toTheEnd(page, "table");
  server.kill("SIGINT");
  await new Promise((ended) => server.on("exit", ended));
  await page.context().close();
}

try {
  await demo();
  if (table) await other();
} catch (error) {
  problems.push(error.stack);
  for (const context of browser.contexts()) {
    for (const page of context.pages()) {
      await page.screenshot({ path: path.join(shots, "failed.png"), fullPage: true }).catch(() => {});
    }
  }
} finally {
  await browser.close();
}
if (problems.length) {
  console.error([...new Set(problems)].join("\n"));
  process.exit(1);
}
process.exit(0);
