// Opens the database named on the command line, and kills itself behind the nth statement that the migration runs.
import { openStore } from "@signalbox/store";
import Sqlite from "better-sqlite3";

const [path = "", last = ""] = process.argv.slice(2);
let statements = 0;
const exec = Sqlite.prototype.exec;
Sqlite.prototype.exec = function (sql) {
  const database = exec.call(this, sql);
  statements += 1;
  if (statements === Number(last)) process.kill(process.pid, "SIGKILL");
  return database;
};
await openStore({ path });
