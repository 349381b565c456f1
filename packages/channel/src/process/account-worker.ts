/** The program of an account that runs in a process of its own. Its host starts it, with the line as descriptor 3. */
import { Socket } from "node:net";
import { serveAccount } from "./serve-account.ts";

serveAccount(new Socket({ fd: 3, readable: true, writable: true }), () => process.exit(0));
