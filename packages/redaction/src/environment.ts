/** Names that say so, however they are written: `SMTP_PASS`, `api_key`, `DB_PASSWORD`, `AUTH`. */
const SECRET_NAME = /(?:key|token|secret|passw(?:or)?d|passwd|pass|pwd|passphrase|credentials?|auth|dsn)$/i;
/** Names that only look like it: every shell has folders there, and desktops the program that asks for a password. */
const NO_SECRET_NAME = /^(?:OLD)?PWD$|ASKPASS$/;
/** What such a name is switched on and off with. */
const SWITCH = /^(?:true|false|yes|no|on|off|none|[01])$/i;
/** Of whose value only what stands before an `@` is secret. */
const ADDRESS = /^[a-z][a-z0-9+.-]*:\/\/[^/?#\s]*@/i;

/** The secrets of an environment: values whose names say so, and the passwords in addresses. */
export function environmentSecrets(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(env).flatMap(([name, value = ""]) => {
    if (ADDRESS.test(value)) return [value, ...passwordIn(value)];
    if (value === "" || SWITCH.test(value) || NO_SECRET_NAME.test(name)) return [];
    return SECRET_NAME.test(name) ? [value] : [];
  });
}

/** The password of an address such as `postgres://user:password@host/`, as it is written and as it is meant. */
function passwordIn(address: string): string[] {
  const written = /^[a-z][a-z0-9+.-]*:\/\/[^/?#\s@:]*:([^/?#\s]*)@/i.exec(address)?.[1];
  if (written === undefined || written === "") return [];
  try {
    return [...new Set([written, decodeURIComponent(written)])];
  } catch {
    return [written];
  }
}
