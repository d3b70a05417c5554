import { expect, test } from "vitest";
import { bundleAgUi, MAX_AG_UI_GZIP_BYTES } from "../../tools/size/bundle.ts";

test.each(["projector", "handler"] as const)(
  "the %s is small, and loads nothing of AG-UI or of Node",
  async (entry) => {
    const report = await bundleAgUi(entry);
    expect(report.gzipBytes, JSON.stringify(report.parts, null, 1)).toBeLessThan(MAX_AG_UI_GZIP_BYTES);
    expect(report.imports).toEqual(["@human-plus/core"]);
    expect(report.parts.map(({ path }) => path).filter((path) => path.includes("node_modules/"))).toEqual([]);
  },
);
