import { type BundleReport, bundleAgUi, bundleSurface, MAX_AG_UI_GZIP_BYTES, MAX_GZIP_BYTES } from "./bundle.ts";

function report(what: string, { bytes, gzipBytes, parts, nodeImports }: BundleReport, maxGzipBytes: number): void {
  const lines = parts.map(({ path, bytes: size }) => `${String(size).padStart(7)}  ${path}`);
  process.stdout.write(`${lines.join("\n")}\n\n`);
  process.stdout.write(`${what}: ${bytes} bytes, ${gzipBytes} after gzip; the bound is ${maxGzipBytes}\n\n`);
  if (nodeImports.length > 0) process.stderr.write(`it imports ${nodeImports.join(", ")}\n`);
  if (gzipBytes > maxGzipBytes || nodeImports.length > 0) process.exitCode = 1;
}

report("surface for browsers", await bundleSurface(), MAX_GZIP_BYTES);
report("projector for AG-UI", await bundleAgUi("projector"), MAX_AG_UI_GZIP_BYTES);
report("handler for AG-UI", await bundleAgUi("handler"), MAX_AG_UI_GZIP_BYTES);
