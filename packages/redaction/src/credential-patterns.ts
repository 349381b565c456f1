/** Patterns of vendors' keys, from the vendors' documentation. */
const VENDOR_KEYS: readonly string[] = [
  // Model vendors.
  "sk[-_][A-Za-z0-9_-]{12,}",
  "AIza[A-Za-z0-9_-]{30,}",
  "(?:gsk|hf|r8|pplx|xai|nvapi|tvly|fw|csk|vapi)[-_][A-Za-z0-9_-]{16,}",
  "api_org_[A-Za-z0-9]{30,}",
  "ABSK[A-Za-z0-9+/=]{40,}",
  "bedrock-api-key-[A-Za-z0-9+/=_-]{20,}",
  // Code hosts and package registries.
  "(?:gh[opsur]|github_pat)_[A-Za-z0-9_]{12,}",
  "gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat|ffct|oas)-[A-Za-z0-9_.-]{16,}",
  "GR1348941[A-Za-z0-9_-]{20,}",
  "sgp_(?:[A-Fa-f0-9]{16}_|local_)?[A-Fa-f0-9]{40}",
  "npm_[A-Za-z0-9]{30,}",
  "pypi-[A-Za-z0-9_-]{30,}",
  "rubygems_[0-9a-f]{40,}",
  "dckr_[po]at_[A-Za-z0-9_-]{20,}",
  "AT(?:ATT|CTT|BB)[A-Za-z0-9_=-]{20,}",
  "CLOJARS_[A-Za-z0-9]{60}",
  "AKCp[A-Za-z0-9]{69}",
  "cmVmd[A-Za-z0-9]{59}",
  // Chat platforms.
  "xox[abceprs][-.][A-Za-z0-9-]{10,}",
  "xapp-[A-Za-z0-9-]{12,}",
  "\\d{8,10}:A[A-Za-z0-9_-]{34}",
  "[MNO][A-Za-z0-9_-]{23,27}\\.[A-Za-z0-9_-]{6}\\.[A-Za-z0-9_-]{27,40}",
  "EAA[A-Za-z0-9_-]{22,}",
  "\\d{15,16}(?:\\||%7C)[A-Za-z0-9_-]{27,40}",
  // Clouds and hosting.
  "(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}",
  "ya29\\.[A-Za-z0-9_-]{20,}",
  "GOCSPX-[A-Za-z0-9_-]{20,}",
  "do[opr]_v1_[0-9a-f]{40,}",
  "(?:LTAI|AKID)[A-Za-z0-9]{16,32}",
  "fo1_[A-Za-z0-9_-]{40,}",
  "fm[12]r?_[A-Za-z0-9+/=]{40,}",
  "dapi[0-9a-f]{32}",
  "tskey-[a-z]+-[A-Za-z0-9-]{12,}",
  "hv[sbr]\\.[A-Za-z0-9_-]{20,}",
  "(?:cfut|cfat)_[A-Za-z0-9_-]{20,}",
  "v1\\.0-[0-9a-f]{24}-[0-9a-f]{100,}",
  "pul-[0-9a-f]{40}",
  "[A-Za-z0-9]{14}\\.atlasv1\\.[A-Za-z0-9_=-]{60,}",
  "HRKU-[A-Za-z0-9_-]{30,}",
  "sha256~[A-Za-z0-9_-]{43}",
  "tk-us-[A-Za-z0-9_-]{48}",
  "4b1d[A-Za-z0-9]{38}",
  "dnkey-[A-Za-z0-9=_-]{26}-[A-Za-z0-9=_-]{52}",
  "[A-Za-z0-9_~.]{3}\\dQ~[A-Za-z0-9_~.-]{31,34}",
  "(?:sc|ext|scauth|authress)_[A-Za-z0-9]{5,30}\\.[A-Za-z0-9]{4,6}\\.acc[_-][A-Za-z0-9-]{10,32}\\.[A-Za-z0-9+/_=-]{30,120}",
  "API-[A-Z0-9]{26}",
  "(?:pat|sat)\\.[A-Za-z0-9_-]{22}\\.[A-Za-z0-9]{24}\\.[A-Za-z0-9]{20}",
  "ico-[A-Za-z0-9]{32}",
  "pnu_[A-Za-z0-9]{36}",
  "s\\.(?=[A-Za-z]{0,23}\\d)[A-Za-z0-9]{24}(?![A-Za-z0-9])",
  "rnd_[A-Za-z0-9]{20,}",
  // Payment services.
  "[prsw]k_(?:live|test|prod)_[A-Za-z0-9]{10,}",
  "whsec_[A-Za-z0-9+/=]{20,}",
  "sq0[a-z]{3}-[A-Za-z0-9_-]{20,}",
  "shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}",
  "access_token\\$production\\$[a-z0-9]{16}\\$[a-f0-9]{32}",
  "FLW(?:SEC|PUB)K(?:_TEST)?-[A-Za-z0-9-]{12,}",
  "duffel_(?:test|live)_[A-Za-z0-9_=-]{43}",
  "shippo_(?:live|test)_[A-Fa-f0-9]{40}",
  "(?:live|test)_(?:pub_)?[A-Fa-f0-9]{31,35}(?![A-Za-z0-9])",
  "live_[A-Za-z0-9=_-]{40}(?![A-Za-z0-9=_-])",
  "access-(?:sandbox|development|production)-[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}",
  "EZ[AT]K[a-z0-9]{54}",
  // Mail, data and monitoring.
  "SG\\.[A-Za-z0-9_-]{16,}\\.[A-Za-z0-9_-]{16,}",
  "(?:pub)?key-[0-9a-f]{32}",
  "[a-h0-9]{32}-[a-h0-9]{8}-[a-h0-9]{8}",
  "SK[0-9a-fA-F]{32}",
  "[0-9a-f]{32}-us\\d{1,2}",
  "xkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16}",
  "re_[A-Za-z0-9]{6,}_[A-Za-z0-9]{16,}",
  "(?:sntrys|sntryu)_[A-Za-z0-9+/=_-]{40,}",
  "(?:glsa|glc)_[A-Za-z0-9+/=_]{30,}",
  "NR(?:AK|JS|II)-[A-Za-z0-9_-]{19,}",
  "dt0c01\\.[A-Za-z0-9]{24}\\.[A-Za-z0-9]{64}",
  "ph[cx]_[A-Za-z0-9]{40,}",
  "pat[A-Za-z0-9]{14}\\.[0-9a-f]{64}",
  "(?:ntn|secret)_[A-Za-z0-9]{40,}",
  "lin_(?:api|oauth)_[A-Za-z0-9]{32,}",
  "tfp_[A-Za-z0-9._=-]{59}",
  "rdme_[A-Za-z0-9]{70}",
  "fio-u-[A-Za-z0-9_=-]{64}",
  "sm_(?:aat|pat|sat)_[A-Za-z0-9]{16}",
  "[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk",
  "pk\\.[A-Za-z0-9]{60}\\.[A-Za-z0-9]{22}",
  "p8e-[A-Za-z0-9]{32}",
  "s-s4t2(?:ud|af)-[0-9a-f]{64}",
  "t1\\.[A-Za-z0-9_-]{10,200}={0,2}\\.[A-Za-z0-9_-]{86}={0,2}",
  "sl\\.[A-Za-z0-9=_-]{130,}",
  "AQVN[A-Za-z0-9_-]{35,38}",
  "fig[dorux]{1,2}_[A-Za-z0-9_-]{30,}",
  "PMAK-[0-9a-f]{24}-[0-9a-f]{34}",
  "AGE-SECRET-KEY-1[A-Z0-9]{50,}",
  "ops_eyJ[A-Za-z0-9+/=]{100,}",
  "A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}",
  "eyJrIjoi[A-Za-z0-9]{70,400}={0,3}",
  "ZXlK[A-Za-z0-9+/_-]{60,}={0,2}",
  "pscale_(?:tkn|oauth|pw)_[A-Za-z0-9_.=-]{32,}",
  "dp\\.(?:pt|st|ct|scim|audit)\\.[A-Za-z0-9_.-]{40,}",
  "CCIPAT_[A-Za-z0-9]{22}_[0-9a-f]{40}",
  "bkua_[0-9a-f]{40}",
  "sbp_[0-9a-f]{40}",
  // The tokens of Signalbox's own clients.
  "sbt_[A-Za-z0-9_-]{43}",
];

/**
 * Names of vendors whose credentials have no typical prefix. They are recognized by the name before the value, as in
 * `COHERE_API_KEY = "…"`. The list contains channel names, so a value must also look random.
 */
const VENDORS: readonly string[] =
  `adafruit adobe airtable algolia alibaba asana atlassian aws azure beamer bitbucket
  bittrex cloudflare codecov cohere coinbase confluence confluent contentful datadog discord droneci dropbox etsy facebook
  fastly finicity finnhub flickr freshbooks gitlab gitter heroku hubspot instagram intercom jenkins jfrog artifactory
  bintray jira kraken kucoin launchdarkly linear linked[_-]?in lob mailchimp mailgun mattermost meraki message[_-]?bird
  mistral netlify new[_-]?relic nytimes okta paypal plaid private[_-]?ai rapidapi sendbird sendgrid sentry shopify snyk
  sonar spotify sourcegraph squarespace stripe sumo supabase tencent travis trello twilio twitch twitter typeform vercel xray yandex zendesk zoom`
    .trim()
    .split(/\s+/);

/** Words for credentials in names such as `api_token_prod` and `DB_PASS`. */
const WORDS =
  "(?:api|access|auth|secret|private|client|encryption|signing|master)[-_ ]?key|token|secret|passw(?:or)?d|passwd|pwd|auth|creds?|credentials?";

/** Quotes, whitespace and escapes between a name, an assignment and a value. */
const QUOTES = "(?:\\\\{0,3}[\"'`]|\\s|\\\\[nrt])";

/**
 * The name of a credential and the beginning of its assignment at the end of a text: `"api_key"` before `: "…"`,
 * `COHERE_TOKEN ` before `= …`.
 */
export const CREDENTIAL_NAME_AT_END: RegExp = new RegExp(
  `(?:(?<![A-Za-z])(?:${VENDORS.join("|")})|${WORDS})[\\w.-]{0,20}(?:[ \\t][\\w.-]{1,10})?${QUOTES}{0,3}[:=?|]{0,2}$`,
  "i",
);

/**
 * An assignment of a value that looks random: at least 14 characters with digits, letters and a long part without
 * separators, neither a date nor a path. The groups are the quotes before the value, and the value.
 */
export const RANDOM_ASSIGNMENT: RegExp = new RegExp(
  `(?:[=:>|]|(?<=["'\`]),)(?=(${QUOTES}{0,5}=?${QUOTES}{0,5})((?=[\\w~%-])(?!\\d{4}-\\d\\d-\\d\\d)(?=[\\w~%=-]{0,60}[A-Za-z0-9]{10}|(?:[A-Za-z_~%=-]{0,20}\\d){5})(?=[\\w~%=-]{0,60}\\d)(?=[\\w~%=-]{0,60}[A-Za-z])[\\w~%=-]{14,200}(?![\\w./~-])))`,
  "g",
);

/**
 * Credentials without a vendor, recognized by the surrounding text. `default` in `${APP_SECRET:-default}` is excluded,
 * because advice about configurations contains it.
 */
const CONTEXTS: readonly RegExp[] = [
  // Client ids of Asana are digits, secrets of Kraken base64, and keys of Sidekiq two short parts.
  /(?<![A-Za-z])asana[\w.-]{0,20}["'`\s]{0,3}(?:=>?|:)["'`\s]{0,5}(\d{16})(?!\d)/gi,
  /(?<![A-Za-z])kraken[\w.-]{0,20}["'`\s]{0,3}(?:=>?|:)["'`\s]{0,5}([A-Za-z0-9/=_+-]{80,90})/gi,
  /contribsys__com["'`\s]{0,3}(?:=>?|:)["'`\s]{0,5}([0-9a-f]{8}:[0-9a-f]{8})/gi,
  /\bcurl\b(?:(?!\bcurl\b)[^\n])*?\s(?:-u|--user)(?:=|\s{0,5})\\?["']?([^\s"'\\:]{1,100}:[^\s"'\\]{3,200})/g,
  /\bcurl\b(?:(?!\bcurl\b)[^\n])*?\s(?:-H|--header)(?:=|\s{0,5})\\?["']?(?:Authorization|(?:X-(?:[a-z]{1,20}-)?)?(?:Api-?)?(?:Key|Token)):\s{0,5}(?:(?:Basic|Bearer|(?:Api-)?Token)\s)?([\w=~@.+/-]{8,500})/gi,
  /<add\s+key=\\?"(?:ClearText)?Password\\?"\s+value=\\?"([^"\\]{8,200})/gi,
  /_gitlab_session=([0-9a-z]{32})/g,
  /\bkind:\s{0,4}["']?secret["']?\b(?:(?!\bkind:).){0,200}?\bdata:\s(?:(?!\bdata:).){0,100}?\b[\w.-]{1,60}:\s{0,4}["']?([a-z0-9+/]{10,4000}={0,3})/gis,
  // Only at the start of a word, because trying every repetition of the prefix would take quadratic time.
  /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?/g,
  /\bhttps:\/\/(?:hooks\.slack\.com\/(?:services|workflows|triggers)|discord(?:app)?\.com\/api\/webhooks|[a-z0-9-]+\.webhook\.office\.com|open\.(?:feishu\.cn|larksuite\.com)\/open-apis\/bot\/v2\/hook)\/[A-Za-z0-9_/@.-]{12,}/g,
  /\b(?:Bearer|Basic|Digest|Token|GenieKey|Bot)\s{1,4}(?=[^\s"',;]{0,200}\d)[A-Za-z0-9._~+/:-]{12,}=*/g,
  /\bBearer\s{1,4}[A-Za-z0-9._~+/-]{12,}=*/gi,
  /(?<=\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@?#"']{0,64}:)[^\s/@?#"']{3,256}(?=@)/gi,
  /(?<=(?:api|access|auth|secret|private|client|signing|encryption|account|refresh|session|bot|app|service|master|shared)[-_ ]?(?:key|token|secret|password)\\?["']?\s{0,3}(?:=>|[=:]|is)\s{0,3}\\?["']?)[A-Za-z0-9_\-+/.~=]{12,}/gi,
  /(?<=(?<![A-Za-z])(?:password|passwd|pwd|passphrase|secret|token)\\?["']?\s{0,3}[=:]\s{0,3}\\?["']?)(?!-default\})[^\s"'\\,;&[]{8,}/gi,
  // Also ends at the next header, because a series of headers would take quadratic time.
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[^-]|-(?!----BEGIN )){0,4000}?(?:-----END [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----|(?=-----BEGIN )|$)/g,
];

/** Patterns that secretlint does not have, or matches only as separate words. */
export const CREDENTIAL_PATTERNS: readonly RegExp[] = [
  new RegExp(`(?<![A-Za-z0-9])(?:${VENDOR_KEYS.join("|")})`, "g"),
  ...CONTEXTS,
];
