import { type AddressInfo, createServer, type Socket } from "node:net";

// Answers every frame with one of 256 KiB: in one piece where the session is "whole", else in HTTP chunks of 64 bytes.
const FRAME_BYTES = 262_144;
const streams = new Map<string, Socket>();

const server = createServer((socket) => {
  let text = "";
  socket.setNoDelay(true).on("error", () => {});
  socket.on("data", (chunk) => {
    text += chunk.toString("latin1");
    for (let end = text.indexOf("\r\n\r\n"); end >= 0; end = text.indexOf("\r\n\r\n")) {
      const head = text.slice(0, end);
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
      if (text.length < end + 4 + length) return;
      const body = text.slice(end + 4, end + 4 + length);
      text = text.slice(end + 4 + length);
      answer(socket, head, body);
    }
  });
});

function answer(socket: Socket, head: string, body: string): void {
  const session = /\/(\w+)\/(?:events|inbox)/.exec(head)?.[1] ?? "";
  if (head.startsWith("GET")) {
    streams.set(session, socket);
    socket.write("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n");
    socket.write(chunked(Buffer.from("retry: 2000\n\n"), 64));
    return;
  }
  socket.write('HTTP/1.1 202 Accepted\r\ncontent-length: 11\r\n\r\n{"ok":true}');
  const begin = `{"jsonrpc":"2.0","id":"${JSON.parse(body).id}","result":{"text":"`;
  const frame = `${begin}${"x".repeat(FRAME_BYTES - begin.length - 3)}"}}`;
  const event = Buffer.from(`event: mcp\ndata: ${frame}\n\n`);
  streams.get(session)?.write(chunked(event, session === "whole" ? event.length : 64));
}

function chunked(bytes: Buffer, size: number): Buffer {
  const parts: Buffer[] = [];
  for (let from = 0; from < bytes.length; from += size) {
    const part = bytes.subarray(from, from + size);
    parts.push(Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from("\r\n"));
  }
  return Buffer.concat(parts);
}

server.listen(0, "127.0.0.1", () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
