import { type Agent, request } from "undici";

export interface BareClient {
  /** Posts a call and waits for the event with its id. */
  call(text: string): Promise<unknown>;
}

export interface BareClientOptions {
  baseUrl: string;
  session: string;
  token: string;
  client: string;
  agent: Agent;
}

/** The pattern without a safety net: a POST, a stream that is hoped to stay open, a map of ids. */
export async function openBareClient({
  baseUrl,
  session,
  token,
  client,
  agent,
}: BareClientOptions): Promise<BareClient> {
  const waiting = new Map<string, (frame: unknown) => void>();
  const query = new URLSearchParams({ token, client });
  const stream = await request(`${baseUrl}/${session}/events?${query}&direction=outbound`, {
    dispatcher: agent,
    bodyTimeout: 0,
  });
  let text = "";
  stream.body.setEncoding("utf8");
  stream.body.on("data", (chunk: string) => {
    text += chunk;
    let end = text.indexOf("\n\n");
    for (; end >= 0; end = text.indexOf("\n\n")) {
      const event = text.slice(0, end);
      text = text.slice(end + 2);
      const data = event.indexOf("data: ");
      if (data < 0) continue;
      const frame = JSON.parse(event.slice(data + 6));
      waiting.get(frame.id)?.(frame);
      waiting.delete(frame.id);
    }
  });
  stream.body.on("error", () => {});
  const inbox = `${baseUrl}/${session}/inbox?${query}`;
  const headers = { "content-type": "application/json" };
  return {
    call(argument) {
      return new Promise((resolve, reject) => {
        const id = crypto.randomUUID();
        waiting.set(id, resolve);
        const params = { name: "echo", arguments: { argument } };
        const body = JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params });
        request(inbox, { method: "POST", dispatcher: agent, headers, body }).then(
          (answer) => answer.body.dump(),
          reject,
        );
      });
    },
  };
}
