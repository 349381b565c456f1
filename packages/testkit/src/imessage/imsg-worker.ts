// The program that a test starts in place of imsg or ssh. It connects to the fake in the test's process. Arguments: the
// port, and either the command of imsg, which ends with `rpc`, or a script for the shell of the Mac.
import { connect } from "node:net";

const [port = "", ...command] = process.argv.slice(2);
const socket = connect({ host: "127.0.0.1", port: Number(port), allowHalfOpen: true });
socket.on("error", () => process.exit(255));
socket.write(`${JSON.stringify(command)}\n`);
process.stdin.pipe(socket);
socket.pipe(process.stdout);
socket.on("end", () => socket.end());
// The process ends once its output is written.
socket.on("close", () => process.stdin.destroy());
