/** Names of variables with secrets: `SMTP_PASS`, `api_key`, `DB_PASSWORD`, `AUTH`. */
const SECRET_NAME = /(?:key|token|secret|passw(?:or)?d|passwd|pass|pwd|passphrase|credentials?|auth|dsn)$/i;
/** Names that only look like secrets: folders of the shell, and programs that ask for passwords. */
const OTHER_NAME = /^(?:OLD)?PWD$|ASKPASS$/;
/** Values that turn an option on or off. */
const FLAG = /^(?:true|false|yes|no|on|off|none|[01])$/i;
/** A URL with credentials. */
const URL_WITH_CREDENTIALS = /^[a-z][a-z0-9+.-]*:\/\/[^/?#\s]*@/i;

/** Finds secrets among environment variables: by their names, and passwords in URLs. */
export function findEnvironmentSecrets(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(env).flatMap(([name, value = ""]) => {
    if (URL_WITH_CREDENTIALS.test(value)) return [value, ...findPassword(value)];
    if (value === "" || FLAG.test(value) || OTHER_NAME.test(name)) return [];
    return SECRET_NAME.test(name) ? [value] : [];
  });
}

/** Returns the password in a URL such as `postgres://user:password@host/`, encoded and decoded. */
function findPassword(address: string): string[] {
  const written = /^[a-z][a-z0-9+.-]*:\/\/[^/?#\s@:]*:([^/?#\s]*)@/i.exec(address)?.[1];
  if (written === undefined || written === "") return [];
  try {
    return [...new Set([written, decodeURIComponent(written)])];
  } catch {
    return [written];
  }
}
