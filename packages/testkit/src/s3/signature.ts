import { createHash, createHmac, timingSafeEqual } from "node:crypto";

/** A request as it is signed. */
export interface SignedRequest {
  readonly method: string;
  /** Path with query, as it was sent. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Uint8Array;
}

export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
}

/** An error of S3: the HTTP status and the `Code` of its body. */
export interface S3Refusal {
  readonly status: number;
  readonly code: string;
}

/** Maximum difference between the clocks, in milliseconds. */
const MAX_SKEW_MS = 15 * 60_000;
const UNSIGNED = "UNSIGNED-PAYLOAD";

/**
 * Verifies the signature of a request. Returns the reason why S3 would refuse it, if there is one. Source of the
 * format: "Authenticating Requests (AWS Signature Version 4)" in the Amazon S3 API reference.
 */
export function refuseUnsigned(request: SignedRequest, expected: S3Credentials): S3Refusal | undefined {
  const header = (name: string): string => String(request.headers[name] ?? "");
  const parsed =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      header("authorization"),
    );
  if (parsed === null) return { status: 403, code: "AccessDenied" };
  const [, accessKeyId, day = "", region, signedHeaders = "", signature = ""] = parsed;
  if (accessKeyId !== expected.accessKeyId) return { status: 403, code: "InvalidAccessKeyId" };
  if (region !== expected.region) return { status: 400, code: "AuthorizationHeaderMalformed" };
  const time = header("x-amz-date");
  const at = Date.parse(time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));
  if (!(Math.abs(Date.now() - at) < MAX_SKEW_MS)) return { status: 403, code: "RequestTimeTooSkewed" };
  const names = signedHeaders.split(";");
  if (!names.includes("host") || !names.includes("x-amz-content-sha256"))
    return { status: 403, code: "AccessDenied" };
  const payload = header("x-amz-content-sha256");
  const [path = "/", query = ""] = request.url.split("?", 2);
  const canonical = [
    request.method,
    path,
    query
      .split("&")
      .filter((field) => field !== "")
      .map((field) => (field.includes("=") ? field : `${field}=`))
      .sort()
      .join("&"),
    ...names.map((name) => `${name}:${header(name).trim().replace(/ +/g, " ")}`),
    "",
    signedHeaders,
    payload,
  ].join("\n");
  const scope = `${day}/${region}/s3/aws4_request`;
  const text = ["AWS4-HMAC-SHA256", time, scope, sha256(canonical)].join("\n");
  const key = [day, expected.region, "s3", "aws4_request"].reduce<string | Buffer>(
    (secret, part) => hmac(secret, part),
    `AWS4${expected.secretAccessKey}`,
  );
  const isRight = timingSafeEqual(Buffer.from(signature, "hex"), hmac(key, text));
  if (!isRight) return { status: 403, code: "SignatureDoesNotMatch" };
  return payload === UNSIGNED || payload === sha256(request.body)
    ? undefined
    : { status: 400, code: "XAmzContentSHA256Mismatch" };
}

function sha256(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}
