/** A form of credential, as its vendor documents it. */
export interface Form {
  readonly name: string;
  readonly alphabet: string;
  /** `{n}` stands for n characters of the alphabet. */
  readonly form: string;
}

const WORD = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const HEX = "0123456789abcdef";
const URL_SAFE = `${WORD}-_`;
const BASE64 = `${WORD}+/`;
const UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const LOWER = "abcdefghijklmnopqrstuvwxyz0123456789";

export const FORMS: readonly Form[] = [
  { name: "anthropic", alphabet: URL_SAFE, form: "sk-ant-api03-{93}AA" },
  { name: "anthropic admin", alphabet: URL_SAFE, form: "sk-ant-admin01-{93}AA" },
  { name: "openai", alphabet: WORD, form: "sk-{20}T3BlbkFJ{20}" },
  { name: "openai project", alphabet: URL_SAFE, form: "sk-proj-{74}T3BlbkFJ{74}" },
  { name: "google ai", alphabet: URL_SAFE, form: "AIza{35}" },
  { name: "google oauth", alphabet: URL_SAFE, form: "GOCSPX-{28}" },
  { name: "google access", alphabet: URL_SAFE, form: "ya29.{68}" },
  { name: "groq", alphabet: WORD, form: "gsk_{52}" },
  { name: "hugging face", alphabet: WORD, form: "hf_{34}" },
  { name: "replicate", alphabet: WORD, form: "r8_{37}" },
  { name: "perplexity", alphabet: WORD, form: "pplx-{48}" },
  { name: "xai", alphabet: WORD, form: "xai-{80}" },
  { name: "nvidia", alphabet: URL_SAFE, form: "nvapi-{64}" },
  { name: "tavily", alphabet: WORD, form: "tvly-{32}" },
  { name: "deepseek", alphabet: HEX, form: "sk-{32}" },
  { name: "openrouter", alphabet: HEX, form: "sk-or-v1-{64}" },
  { name: "bedrock", alphabet: BASE64, form: "ABSK{109}=" },
  { name: "aws id", alphabet: UPPER, form: "AKIA{16}" },
  { name: "aws session id", alphabet: UPPER, form: "ASIA{16}" },
  { name: "aws secret", alphabet: BASE64, form: "aws_secret_access_key = {40}" },
  { name: "alibaba", alphabet: LOWER, form: "LTAI{20}" },
  { name: "tencent", alphabet: WORD, form: "AKID{32}" },
  { name: "azure storage", alphabet: BASE64, form: "AccountKey={86}==" },
  { name: "azure client", alphabet: WORD, form: "client_secret={3}8Q~{34}" },
  { name: "digitalocean", alphabet: HEX, form: "dop_v1_{64}" },
  { name: "heroku", alphabet: URL_SAFE, form: "HRKU-{60}" },
  { name: "fly", alphabet: URL_SAFE, form: "fo1_{43}" },
  { name: "cloudflare", alphabet: URL_SAFE, form: 'cloudflare_api_token: "{40}"' },
  { name: "vercel", alphabet: WORD, form: "VERCEL_TOKEN={24}" },
  { name: "render", alphabet: WORD, form: "rnd_{28}" },
  { name: "github", alphabet: WORD, form: "ghp_{36}" },
  { name: "github app", alphabet: WORD, form: "ghs_{36}" },
  { name: "github fine", alphabet: WORD, form: "github_pat_{22}_{59}" },
  { name: "gitlab", alphabet: URL_SAFE, form: "glpat-{20}" },
  { name: "gitlab runner", alphabet: URL_SAFE, form: "glrt-{20}" },
  { name: "npm", alphabet: WORD, form: "npm_{36}" },
  { name: "pypi", alphabet: URL_SAFE, form: "pypi-AgEIcHlwaS5vcmc{70}" },
  { name: "rubygems", alphabet: HEX, form: "rubygems_{48}" },
  { name: "docker", alphabet: URL_SAFE, form: "dckr_pat_{27}" },
  { name: "atlassian", alphabet: URL_SAFE, form: "ATATT3xFfGF0{180}={8}" },
  { name: "linear", alphabet: WORD, form: "lin_api_{40}" },
  { name: "notion", alphabet: WORD, form: "ntn_{46}" },
  { name: "figma", alphabet: URL_SAFE, form: "figd_{40}" },
  { name: "postman", alphabet: HEX, form: "PMAK-{24}-{34}" },
  { name: "airtable", alphabet: HEX, form: "patAbCdEfGhIjKlMn.{64}" },
  { name: "slack bot", alphabet: WORD, form: "xoxb-123456789012-1234567890123-{24}" },
  { name: "slack user", alphabet: HEX, form: "xoxp-123456789012-123456789012-1234567890123-{32}" },
  { name: "slack app", alphabet: HEX, form: "xapp-1-A0123456789-1234567890123-{64}" },
  {
    name: "slack webhook",
    alphabet: WORD,
    form: "https://hooks.slack.com/services/T01234567/B01234567/{24}",
  },
  { name: "discord bot", alphabet: URL_SAFE, form: "MTIzNDU2Nzg5MDEyMzQ1Njc4.{6}.{38}" },
  {
    name: "discord webhook",
    alphabet: URL_SAFE,
    form: "https://discord.com/api/webhooks/123456789012345678/{68}",
  },
  { name: "telegram", alphabet: URL_SAFE, form: "1234567890:AA{33}" },
  {
    name: "feishu webhook",
    alphabet: HEX,
    form: "https://open.feishu.cn/open-apis/bot/v2/hook/{8}-{4}-{4}-{4}-{12}",
  },
  { name: "feishu app", alphabet: WORD, form: 'appSecret: "{32}"' },
  {
    name: "teams webhook",
    alphabet: HEX,
    form: "https://acme.webhook.office.com/webhookb2/{36}@{36}/IncomingWebhook/{32}/{36}",
  },
  { name: "stripe", alphabet: WORD, form: "sk_live_{24}" },
  { name: "stripe restricted", alphabet: WORD, form: "rk_live_{24}" },
  { name: "stripe webhook", alphabet: WORD, form: "whsec_{32}" },
  { name: "square", alphabet: URL_SAFE, form: "sq0csp-{43}" },
  { name: "shopify", alphabet: HEX, form: "shpat_{32}" },
  { name: "paypal", alphabet: HEX, form: "access_token$production${16}${32}" },
  { name: "sendgrid", alphabet: URL_SAFE, form: "SG.{22}.{43}" },
  { name: "mailgun", alphabet: HEX, form: "key-{32}" },
  { name: "mailchimp", alphabet: HEX, form: "{32}-us12" },
  { name: "brevo", alphabet: HEX, form: "xkeysib-{64}-aBcDeFgHiJkLmNoP" },
  { name: "resend", alphabet: WORD, form: "re_{8}_{24}" },
  { name: "twilio", alphabet: HEX, form: "TWILIO_AUTH_TOKEN={32}" },
  { name: "sentry", alphabet: HEX, form: "sntryu_{64}" },
  { name: "grafana", alphabet: WORD, form: "glsa_{32}_0a1b2c3d" },
  { name: "new relic", alphabet: UPPER, form: "NRAK-{27}" },
  { name: "datadog", alphabet: HEX, form: "DD_API_KEY={32}" },
  { name: "dynatrace", alphabet: UPPER, form: "dt0c01.{24}.{64}" },
  { name: "posthog", alphabet: WORD, form: "phc_{43}" },
  { name: "vault", alphabet: URL_SAFE, form: "hvs.{90}" },
  { name: "terraform", alphabet: URL_SAFE, form: "aBcDeFgHiJkLmN.atlasv1.{67}" },
  { name: "doppler", alphabet: WORD, form: "dp.pt.{43}" },
  { name: "pulumi", alphabet: HEX, form: "pul-{40}" },
  { name: "databricks", alphabet: HEX, form: "dapi{32}" },
  { name: "planetscale", alphabet: URL_SAFE, form: "pscale_tkn_{43}" },
  { name: "supabase", alphabet: HEX, form: "sbp_{40}" },
  { name: "tailscale", alphabet: WORD, form: "tskey-auth-{12}-{32}" },
  { name: "1password", alphabet: BASE64, form: "ops_eyJ{252}" },
  { name: "circleci", alphabet: HEX, form: "CCIPAT_aBcDeFgHiJkLmNoPqRsTuV_{40}" },
  { name: "buildkite", alphabet: HEX, form: "bkua_{40}" },
  { name: "age", alphabet: UPPER, form: "AGE-SECRET-KEY-1{58}" },
  { name: "jwt", alphabet: URL_SAFE, form: "eyJhbGciOiJIUzI1NiJ9.eyJ{60}.{43}" },
  { name: "bearer", alphabet: URL_SAFE, form: "Authorization: Bearer {40}" },
  { name: "basic", alphabet: BASE64, form: "Authorization: Basic {28}" },
  { name: "url password", alphabet: WORD, form: "https://user:{16}@example.org/x" },
  { name: "postgres", alphabet: WORD, form: "postgres://app:{16}@db.example.org:5432/app" },
  { name: "mongodb", alphabet: WORD, form: "mongodb+srv://app:{16}@cluster.example.org/app" },
  { name: "password", alphabet: WORD, form: "password={16}" },
  { name: "api key", alphabet: WORD, form: 'api_key: "{32}"' },
  {
    name: "private key",
    alphabet: BASE64,
    form: "-----BEGIN PRIVATE KEY-----\n{800}\n-----END PRIVATE KEY-----",
  },
  {
    name: "ssh key",
    alphabet: BASE64,
    form: "-----BEGIN OPENSSH PRIVATE KEY-----\n{400}\n-----END OPENSSH PRIVATE KEY-----",
  },
];

/** Returns an example of a form, and its random part, which must be removed. */
export function createExample(
  { form, alphabet }: Form,
  random: () => number,
): { text: string; secret: string } {
  let longest = "";
  const text = form.replaceAll(/\{(\d+)\}/g, (_, count: string) => {
    const letters = Array.from({ length: Number(count) }, () =>
      alphabet.charAt(Math.floor(random() * alphabet.length)),
    );
    const part = letters.join("");
    if (part.length > longest.length) longest = part;
    return part;
  });
  return { text, secret: longest };
}
