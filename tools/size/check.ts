import { bundleSurface, MAX_GZIP_BYTES } from "./bundle.ts";

const { bytes, gzipBytes, parts, nodeImports } = await bundleSurface();
const lines = parts.map(({ path, bytes: size }) => `${String(size).padStart(7)}  ${path}`);
process.stdout.write(`${lines.join("\n")}\n\n`);
process.stdout.write(`surface for browsers: ${bytes} bytes, ${gzipBytes} after gzip; the bound is ${MAX_GZIP_BYTES}\n`);
if (nodeImports.length > 0) process.stderr.write(`it imports ${nodeImports.join(", ")}\n`);
if (gzipBytes > MAX_GZIP_BYTES || nodeImports.length > 0) process.exitCode = 1;
