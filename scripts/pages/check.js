// Judges pages in a browser; see scripts/pages/check. The last line counts the pages.
const { readFileSync } = require("fs");
const { basename } = require("path");
const { chromium } = require("playwright-core");

const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const LOOKS = {
  wide: { viewport: { width: 1200, height: 900 } },
  narrow: { viewport: { width: 390, height: 844 }, isMobile: true },
  dark: { viewport: { width: 1200, height: 900 }, colorScheme: "dark" },
};

// As a reader sees it: scripts off. Whatever it asks for beside itself is a fault.
async function look(browser, file, name, options) {
  const context = await browser.newContext({ ...options, javaScriptEnabled: false });
  const page = await context.newPage();
  const faults = [];
  page.on("request", (request) => {
    if (!/^(file|data):/.test(request.url())) faults.push(`asks for ${request.url()}`);
  });
  await page.goto(`file://${file}`);
  if (process.env.SHOTS) {
    await page.screenshot({ path: `${process.env.SHOTS}/${basename(file, ".html")}-${name}.png` });
  }
  if (name === "wide") await page.pdf();
  await context.close();
  return faults;
}

// axe needs a script, so it gets a context of its own, with everything opened.
async function judge(browser, file, options) {
  const context = await browser.newContext({ ...options, bypassCSP: true });
  const page = await context.newPage();
  const faults = [];
  page.on("dialog", async (dialog) => {
    faults.push(`a script of the session ran: ${dialog.message()}`);
    await dialog.dismiss();
  });
  await page.goto(`file://${file}`);
  const scripts = await page.evaluate("document.scripts.length");
  if (scripts > 0) faults.push(`${scripts} scripts`);
  await page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))");
  const over = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
  if (over > 0) faults.push(`${over} pixels too wide`);
  await page.evaluate(axe);
  for (const found of (await page.evaluate("axe.run()")).violations) {
    if (["serious", "critical"].includes(found.impact)) {
      faults.push(`axe: ${found.id} (${found.impact}): ${found.nodes[0].html.slice(0, 100)}`);
    }
  }
  await context.close();
  return faults;
}

(async () => {
  const browser = await chromium.launch({ executablePath: process.env.BROWSER, args: ["--no-sandbox"] });
  let failed = 0;
  const files = process.argv.slice(2);
  for (const file of files) {
    const faults = [];
    for (const [name, options] of Object.entries(LOOKS)) {
      for (const fault of [...(await look(browser, file, name, options)), ...(await judge(browser, file, options))]) {
        faults.push(`${basename(file)}, ${name}: ${fault}`);
      }
    }
    faults.forEach((fault) => console.log(fault));
    failed += faults.length > 0;
  }
  await browser.close();
  console.log(`${files.length - failed} passed, ${failed} failed`);
  process.exit(failed || files.length === 0 ? 1 : 0);
})();
