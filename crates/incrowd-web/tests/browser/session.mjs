// A complete session in a real browser: every step and error, keyboard, accessibility, light and
// dark, narrow and wide.
//
//   node session.mjs PROGRAM WORK SHOTS [TABLE ROLES]
//
// PROGRAM is the command `incrowd`, WORK an empty directory, SHOTS the directory of screenshots.
// TABLE is a second table for a session after the demo. Libraries are loaded from the working
// directory. The exit code is 0 without problems; otherwise they are printed.
import { createRequire } from "node:module";
import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import path from "node:path";
import assert from "node:assert/strict";

const [program, work, shots, table] = process.argv.slice(2);
const require = createRequire(path.join(process.cwd(), "x.js"));
const { chromium } = require("playwright-core");
const axe = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
fs.mkdirSync(shots, { recursive: true });

const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--no-first-run", "--disable-quic"];
const TIMEOUT = Number(process.env.PATIENCE || 180_000);

// Starts a server and waits for its address.
async function serve(...given) {
  const server = spawn(program, ["serve", "--no-open", "--json", ...given],
    { cwd: work, stdio: ["ignore", "pipe", "pipe"] });
  let stdout = "", stderr = "";
  server.stderr.on("data", (piece) => { stderr += piece; });
  const address = await new Promise((found, failed) => {
    server.stdout.on("data", (piece) => {
      stdout += piece;
      const address = /"address": "([^"]+)"/.exec(stdout);
      if (address) found(address[1]);
    });
    server.on("exit", () => failed(new Error(`the server ended: ${stderr}`)));
  });
  return { server, address, stderr: () => stderr };
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: FLAGS,
});
const problems = [];

async function open(address, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  context.setDefaultTimeout(TIMEOUT);
  const page = await context.newPage();
  watch(page);
  await page.goto(address);
  await page.waitForURL((url) => url.pathname.startsWith("/s/") && !url.search.includes("token"));
  return page;
}

// Records requests to other hosts and messages of the console as problems.
function watch(page) {
  page.on("request", (request) => {
    const host = new URL(request.url()).hostname;
    if (host !== "127.0.0.1" && !request.url().startsWith("data:")) {
      problems.push(`asked ${request.url()}`);
    }
  });
  page.on("console", (message) => {
    const text = message.text();
    // Expected error codes and a stopped server are not problems.
    if (message.type() === "error" && !/status of (422|404|409)|ERR_CONNECTION/.test(text)) {
      problems.push(`console: ${text}`);
    }
  });
  page.on("pageerror", (error) => problems.push(`script: ${error.message}`));
}

async function accessible(page, name) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => globalThis.axe.run(document, {
    resultTypes: ["violations"], runOnly: ["wcag2a", "wcag2aa", "wcag21aa"],
  }));
  for (const violation of found.violations) {
    const nodes = violation.nodes.slice(0, 3);
    const where = nodes.map((node) => `${node.target} ${node.failureSummary}`).join("\n   ");
    problems.push(`${name}: ${violation.id}: ${violation.help}\n   ${where}`);
  }
}

// Takes screenshots in wide, narrow and dark mode and checks that nothing overflows.
async function shot(page, name) {
  await accessible(page, name);
  const size = page.viewportSize();
  const modes = [["wide", 1280, "light"], ["narrow", 360, "light"], ["dark", 1280, "dark"]];
  for (const [kind, width, scheme] of modes) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme: scheme });
    await page.waitForTimeout(60);
    const over = await page.evaluate(() => {
      const { scrollWidth, clientWidth } = document.documentElement;
      return scrollWidth - clientWidth;
    });
    if (over > 1) problems.push(`${name} ${kind}: runs ${over} pixels over the edge`);
    await page.screenshot({ path: path.join(shots, `${name}-${kind}.png`), fullPage: true });
    if (kind !== "wide") await accessible(page, `${name} ${kind}`);
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize(size);
}

const step = (page, name) => page.locator(".steps").getByRole("link", { name }).click();
const settled = async (page) => {
  const ended = () => !document.querySelector("[data-task]");
  await page.waitForFunction(ended, null, { timeout: TIMEOUT });
};
// A role is saved when it is chosen, and the new job has a new address.
async function choose(page, column, role) {
  const before = page.url();
  await page.getByLabel(`Role of ${column}`).selectOption(role);
  await page.waitForURL((url) => url.href !== before);
  await page.waitForLoadState("load");
  assert.equal(await page.getByLabel(`Role of ${column}`).inputValue(), role);
}
const lines = (file) => fs.readFileSync(file, "utf8").trimEnd().split("\n").sort();

// Goes from the release to the files, and makes the same release from the job file.
async function publish(page, name) {
  await step(page, "Check");
  await page.locator(".sentences li").first().waitFor();
  await settled(page);
  const sentences = await page.locator(".sentences").innerText();
  assert.match(sentences, /Nobody can be narrowed down below \d+ records/);
  await shot(page, `${name}-6-check`);

  await step(page, "Publish");
  const dir = path.join(work, `${name}-out`);
  await page.getByLabel("Folder").fill("not/an/absolute/path");
  await page.getByRole("button", { name: "Publish" }).click();
  await page.getByRole("alert").filter({ hasText: "absolute path" }).waitFor();
  await page.getByLabel("Folder").fill(dir);
  await page.getByRole("button", { name: "Publish" }).click();
  await page.locator(".files li").first().waitFor();
  await shot(page, `${name}-7-publish`);
  const files = fs.readdirSync(dir).sort();
  const release = files.find((file) => file.endsWith(".release.csv"));
  const job = files.find((file) => file.endsWith(".job.toml"));
  assert.ok(release && job && files.some((file) => file.endsWith(".release.json")), files.join());
  assert.ok(files.some((file) => file.endsWith(".report.html")), files.join());
  assert.ok(files.some((file) => file.endsWith(".owner.html")), files.join());

  // The job file makes the same records, and the download equals the written file.
  const made = lines(path.join(dir, release));
  const manifest = JSON.parse(fs.readFileSync(path.join(dir, release.replace(".csv", ".json"))));
  const [saved] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "Save the job file" }).click(),
  ]);
  assert.equal(saved.suggestedFilename(), job);
  const again = path.join(dir, "again.release.csv");
  const run = (...args) => spawnSync(program, args, { cwd: dir, encoding: "utf8" });
  const ran = run("anonymize", job, "-o", again, "--quiet");
  assert.equal(ran.status, 0, ran.stderr);
  assert.deepEqual(lines(again), made, "the job file makes another release");
  const verified = run("verify", path.join(dir, release), "--quiet");
  assert.equal(verified.status, 0, verified.stdout + verified.stderr);

  // The reports open in new tabs. Records are on the owner's page only.
  for (const [i, kind, ending] of [[0, "public", ".report.html"], [1, "owner", ".owner.html"]]) {
    const [report] = await Promise.all([
      page.context().waitForEvent("page"),
      page.locator(".files a[target]").nth(i).click(),
    ]);
    await report.getByRole("heading", { level: 1 }).waitFor();
    const sentences = await report.locator(".sentences").innerText();
    assert.match(sentences, /Nobody can be narrowed down below \d+ records/);
    assert.equal(await report.locator("table.sample").count(), i);
    // The policy of the server blocks the accessibility check too, so the page is loaded from its
    // file.
    await report.goto(`file://${path.join(dir, files.find((file) => file.endsWith(ending)))}`);
    await shot(report, `${name}-${8 + i}-${kind}`);
    await report.close();
  }
  return manifest;
}

// Navigates to another server on this host: it receives neither a cookie nor the path of the page.
async function otherServer(page) {
  const heads = [];
  const other = http.createServer((request, response) => {
    heads.push(request.rawHeaders.join("\n"));
    response.end("<p>other</p>");
  });
  await new Promise((ready) => other.listen(0, "127.0.0.1", ready));
  const secret = new URL(page.url()).pathname.split("/")[2];
  assert.match(secret, /^[0-9a-f]{32}$/);
  const there = `http://127.0.0.1:${other.address().port}/`;
  await page.evaluate((there) => {
    const link = document.createElement("a");
    link.href = there;
    document.body.append(link);
    link.click();
  }, there);
  await page.waitForURL(there);
  assert.ok(heads.length > 0);
  for (const head of heads) assert.ok(!head.includes(secret) && !/^cookie$/im.test(head), head);
  other.closeAllConnections();
  other.close();
}

async function demo() {
  const { server, address, stderr } = await serve();
  const page = await open(address);
  await shot(page, "demo-1-open");

  // The address works once, requests without the secret are refused, and there is no cookie.
  const stranger = await (await browser.newContext()).newPage();
  for (const wrong of [address, new URL("/", address).href]) {
    assert.equal((await stranger.goto(wrong)).status(), 403);
  }
  await stranger.context().close();
  assert.deepEqual(await page.context().cookies(), []);
  const start = page.url();
  await otherServer(page);
  await page.goto(start);

  // Invalid files.
  await page.getByLabel("Path").fill(path.join(work, "nothing-here.csv"));
  await page.locator("form[action$='/open'] button").click();
  await page.getByRole("alert").waitFor();
  await shot(page, "error-no-file");
  await page.getByRole("link", { name: "Back" }).click();
  const picture = path.join(work, "picture.csv");
  const png = [0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 3, 0, 0, 0, 9, 255, 254];
  fs.writeFileSync(picture, Buffer.from(png));
  await page.locator("input[type=file]").setInputFiles(picture);
  await page.locator("form[action$='/upload'] button").click();
  await page.getByRole("alert").waitFor();
  await page.goto(start);

  // Step: table.
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

  // Step: hierarchies.
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
  await page.getByLabel("A custom hierarchy").check();
  await page.getByLabel("One line per value").fill("female;*\nfemale;*;x\n");
  await page.getByRole("button", { name: "Use this" }).click();
  await page.getByRole("alert").first().waitFor();
  await page.getByLabel("One line per value").fill("female;anybody;*\nmale;anybody;*\n");
  await page.getByRole("button", { name: "Use this" }).click();
  await page.locator(".icicle").waitFor();

  // Step: privacy models. Adds one, and one that cannot be reached.
  await step(page, "Privacy models");
  await shot(page, "demo-4-models");
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
  await shot(page, "error-model");

  // The release follows k, and a second tab keeps its job.
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

  // A comparison is started, stopped and restarted, and one of its marks is used.
  await page.getByRole("button", { name: "Compare" }).click();
  await page.locator("[data-task$='compare'] button").click();
  await page.getByText("The task was stopped.").waitFor();
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

  const manifest = await publish(page, "demo");
  assert.equal(manifest.models[0].k, 12);

  // The server stops.
  await step(page, "Release");
  await page.locator(".verdict").waitFor();
  server.kill("SIGINT");
  const code = await new Promise((ended) => {
    server.on("exit", (code, signal) => ended(code ?? signal));
  });
  assert.equal(code, 0, stderr());
  for (let i = 0; i < 4; i += 1) {
    await page.locator("[data-range]").press("ArrowRight");
    await page.waitForTimeout(400);
  }
  await page.locator("#gone").waitFor();
  await page.screenshot({ path: path.join(shots, "error-server-gone.png") });
  assert.equal(stderr(), "", "the server prints no messages");
  await page.context().close();
}

async function other() {
  const { server, address } = await serve(table);
  const page = await open(address);
  // The address opens the table.
  await page.waitForURL(/\/table$/);
  await page.locator(".big").waitFor();
  await shot(page, "table-2-table");
  await step(page, "Hierarchies");
  await page.locator(".tabs").getByRole("link", { name: "native-country" }).click();
  await page.locator(".icicle").waitFor();
  await shot(page, "table-3-hierarchies");
  await step(page, "Privacy models");
  await page.getByLabel("algorithm", { exact: true }).selectOption("mondrian");
  await page.locator("#content").getByRole("button", { name: "Save" }).last().click();
  await page.waitForLoadState();
  await step(page, "Release");
  await page.locator(".verdict").waitFor();
  await settled(page);
  await shot(page, "table-5-release");
  await publish(page, "table");
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
      const failed = { path: path.join(shots, "failed.png"), fullPage: true };
      await page.screenshot(failed).catch(() => {});
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
