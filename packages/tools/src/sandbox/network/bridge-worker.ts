// Runs inside the sandbox, which has no network. `node bridge-worker.js <socket> <port> <program> [arguments]` listens
// on the loopback address of the sandbox, forwards each connection to the proxy's socket, and ends when the program
// does.
import { spawn } from "node:child_process";
import { connect, createServer } from "node:net";
import { constants } from "node:os";

const [socket = "", port = "", program = "", ...args] = process.argv.slice(2);
const server = createServer((client) => {
  const proxy = connect(socket);
  client.on("error", () => proxy.destroy());
  proxy.on("error", () => client.destroy());
  client.pipe(proxy).pipe(client);
});
server.listen(Number(port), "127.0.0.1", () => {
  const child = spawn(program, args, { stdio: "inherit" });
  child.once("error", () => process.exit(127));
  child.once("exit", (code, signal) =>
    process.exit(code ?? 128 + (signal === null ? 0 : constants.signals[signal])),
  );
});
