import { expect, test } from "vitest";
import { bundleSurface, MAX_GZIP_BYTES } from "../tools/size/bundle.ts";

test("a surface for browsers is small and reaches no module of Node", async () => {
  const report = await bundleSurface();
  expect(report.gzipBytes, JSON.stringify(report.parts, null, 1)).toBeLessThanOrEqual(MAX_GZIP_BYTES);
  expect(report.nodeImports).toEqual([]);
  expect(report.parts.map(({ path }) => path).filter((path) => /node_modules\//.test(path))).toEqual([]);
});
