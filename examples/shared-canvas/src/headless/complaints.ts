import type { Page } from "playwright-core";

/** Collects what a browser complains of: errors and warnings of scripts, of the content security policy, of requests. */
export function listenToComplaints(page: Page): readonly string[] {
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("dialog", (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    dialog.dismiss().catch(() => undefined);
  });
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  page.on("requestfailed", (request) => {
    const reason = request.failure()?.errorText;
    // What was open when the page went away is no complaint.
    if (reason !== "net::ERR_ABORTED") complaints.push(`${request.method()} failed: ${reason}`);
  });
  return complaints;
}
