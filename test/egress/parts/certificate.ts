import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";

export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

/** A certificate for these names, which this process trusts from now on. */
export function trustNewCertificate(names: readonly string[]): Certificate {
  const folder = mkdtempSync(join(tmpdir(), "certificate-"));
  try {
    const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
    const subject = ["-subj", "/CN=test", "-addext", `subjectAltName=${names.map((name) => `DNS:${name}`).join(",")}`];
    const made = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key, "-out", cert];
    execFileSync("openssl", [...made, ...subject], { stdio: "ignore" });
    const certificate = { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") };
    setDefaultCACertificates([...getCACertificates("default"), certificate.cert]);
    return certificate;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
