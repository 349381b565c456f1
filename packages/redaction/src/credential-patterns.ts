/** Patterns of vendors' keys, from the vendors' documentation. */
const VENDOR_KEYS: readonly string[] = [
  // Model vendors.
  "sk[-_][A-Za-z0-9_-]{12,}",
  "AIza[A-Za-z0-9_-]{30,}",
  "(?:gsk|hf|r8|pplx|xai|nvapi|tvly|fw|csk|vapi)[-_][A-Za-z0-9_-]{16,}",
  "ABSK[A-Za-z0-9+/=]{40,}",
  // Code hosts and package registries.
  "(?:gh[opsur]|github_pat)_[A-Za-z0-9_]{12,}",
  "gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat|ffct|oas)-[A-Za-z0-9_.-]{16,}",
  "npm_[A-Za-z0-9]{30,}",
  "pypi-[A-Za-z0-9_-]{30,}",
  "rubygems_[0-9a-f]{40,}",
  "dckr_[po]at_[A-Za-z0-9_-]{20,}",
  "AT(?:ATT|CTT|BB)[A-Za-z0-9_=-]{20,}",
  // Chat platforms.
  "xox[abceprs][-.][A-Za-z0-9-]{10,}",
  "xapp-[A-Za-z0-9-]{12,}",
  "\\d{8,10}:A[A-Za-z0-9_-]{34}",
  "[MNO][A-Za-z0-9_-]{23,27}\\.[A-Za-z0-9_-]{6}\\.[A-Za-z0-9_-]{27,40}",
  "EAA[A-Za-z0-9]{40,}",
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
  "rnd_[A-Za-z0-9]{20,}",
  // Money.
  "[prsw]k_(?:live|test|prod)_[A-Za-z0-9]{10,}",
  "whsec_[A-Za-z0-9+/=]{20,}",
  "sq0[a-z]{3}-[A-Za-z0-9_-]{20,}",
  "shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}",
  "access_token\\$production\\$[a-z0-9]{16}\\$[a-f0-9]{32}",
  "FLWSECK(?:_TEST)?-[A-Za-z0-9-]{12,}",
  "EZ[AT]K[a-z0-9]{54}",
  // Mail, data and monitoring.
  "SG\\.[A-Za-z0-9_-]{16,}\\.[A-Za-z0-9_-]{16,}",
  "key-[0-9a-f]{32}",
  "[0-9a-f]{32}-us\\d{1,2}",
  "xkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16}",
  "re_[A-Za-z0-9]{6,}_[A-Za-z0-9]{16,}",
  "(?:sntrys|sntryu)_[A-Za-z0-9+/=_-]{40,}",
  "(?:glsa|glc)_[A-Za-z0-9+/=_]{30,}",
  "NR(?:AK|JS|II)-[A-Za-z0-9_-]{19,}",
  "dt0c01\\.[A-Z0-9]{24}\\.[A-Z0-9]{64}",
  "ph[cx]_[A-Za-z0-9]{40,}",
  "pat[A-Za-z0-9]{14}\\.[0-9a-f]{64}",
  "(?:ntn|secret)_[A-Za-z0-9]{40,}",
  "lin_(?:api|oauth)_[A-Za-z0-9]{32,}",
  "fig[dorux]{1,2}_[A-Za-z0-9_-]{30,}",
  "PMAK-[0-9a-f]{24}-[0-9a-f]{34}",
  "AGE-SECRET-KEY-1[A-Z0-9]{50,}",
  "ops_eyJ[A-Za-z0-9+/=]{100,}",
  "pscale_(?:tkn|oauth|pw)_[A-Za-z0-9_.=-]{32,}",
  "dp\\.(?:pt|st|ct|scim|audit)\\.[A-Za-z0-9_.-]{40,}",
  "CCIPAT_[A-Za-z0-9]{22}_[0-9a-f]{40}",
  "bkua_[0-9a-f]{40}",
  "sbp_[0-9a-f]{40}",
  // The tokens of Signalbox's own clients.
  "sbt_[A-Za-z0-9_-]{43}",
];

/**
 * Credentials of no vendor, recognized by the text around them. `default` in `${APP_SECRET:-default}` is excluded,
 * because advice about configurations contains it.
 */
const CONTEXTS: readonly RegExp[] = [
  // Only at the start of a word, because trying every repetition of the prefix would take quadratic time.
  /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?/g,
  /\bhttps:\/\/(?:hooks\.slack\.com\/(?:services|workflows)|discord(?:app)?\.com\/api\/webhooks|[a-z0-9-]+\.webhook\.office\.com|open\.(?:feishu\.cn|larksuite\.com)\/open-apis\/bot\/v2\/hook)\/[A-Za-z0-9_/@.-]{12,}/g,
  /\b(?:Bearer|Basic|Digest|Token|GenieKey|Bot)\s{1,4}(?=[^\s"',;]{0,200}\d)[A-Za-z0-9._~+/:-]{12,}=*/g,
  /\bBearer\s{1,4}[A-Za-z0-9._~+/-]{12,}=*/gi,
  /(?<=\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@?#"']{0,64}:)[^\s/@?#"']{3,256}(?=@)/gi,
  /(?<=(?:api|access|auth|secret|private|client|signing|encryption|account|refresh|session|bot|app|service|master|shared)[-_ ]?(?:key|token|secret|password)\\?["']?\s{0,3}(?:=>|[=:]|is)\s{0,3}\\?["']?)[A-Za-z0-9_\-+/.~=]{12,}/gi,
  /(?<=(?<![A-Za-z])(?:password|passwd|pwd|passphrase|secret|token)\\?["']?\s{0,3}[=:]\s{0,3}\\?["']?)(?!-default\})[^\s"'\\,;&[]{8,}/gi,
  // Also ends at the next beginning, because a series of beginnings would take quadratic time.
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[^-]|-(?!----BEGIN )){0,4000}?(?:-----END [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----|(?=-----BEGIN )|$)/g,
];

/** Patterns that secretlint does not have, or matches only as separate words. */
export const CREDENTIAL_PATTERNS: readonly RegExp[] = [
  new RegExp(`(?<![A-Za-z0-9])(?:${VENDOR_KEYS.join("|")})`, "g"),
  ...CONTEXTS,
];
