import type { ObjectStore } from "@signalbox/store/types";

export interface S3ObjectsOptions {
  readonly bucket: string;
  /** Default: the region of the environment, as the AWS SDK finds it. */
  readonly region?: string;
  /** URL of another S3-compatible service. Default: Amazon S3. */
  readonly endpoint?: string;
  /** True if the bucket is part of the path and not of the host name. */
  readonly pathStyle?: boolean;
  /** Prefix of all keys, for example `signalbox/`. Default: none. */
  readonly prefix?: string;
  /** Default: the credentials of the environment, as the AWS SDK finds them. */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

/** Maximum number of objects that are removed at the same time. */
const MAX_REMOVALS = 8;

/**
 * Opens a bucket of Amazon S3 or a compatible service as an object store. Requires the package `@aws-sdk/client-s3`.
 *
 * @throws Error if the package is not installed
 */
export async function openS3Objects(options: S3ObjectsOptions): Promise<ObjectStore> {
  const { bucket: Bucket, prefix: root = "" } = options;
  const sdk = await importSdk();
  const client = new sdk.S3Client({
    region: options.region,
    endpoint: options.endpoint,
    credentials: options.credentials,
    forcePathStyle: options.pathStyle === true,
    // Many compatible services do not know the checksums that the SDK adds by default.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
  });
  const remove = (key: string) => client.send(new sdk.DeleteObjectCommand({ Bucket, Key: `${root}${key}` }));
  return {
    async put(key, bytes) {
      await client.send(
        new sdk.PutObjectCommand({
          Bucket,
          Key: `${root}${key}`,
          Body: bytes,
          ContentLength: bytes.byteLength,
        }),
      );
    },
    async open(key) {
      try {
        const { Body } = await client.send(new sdk.GetObjectCommand({ Bucket, Key: `${root}${key}` }));
        return Body?.transformToWebStream();
      } catch (error) {
        if (error instanceof sdk.NoSuchKey) return undefined;
        throw error;
      }
    },
    async list(prefix) {
      const found: Awaited<ReturnType<ObjectStore["list"]>>[number][] = [];
      const pages = sdk.paginateListObjectsV2({ client }, { Bucket, Prefix: `${root}${prefix}` });
      for await (const { Contents = [] } of pages)
        for (const { Key = "", Size = 0, LastModified } of Contents)
          found.push({ key: Key.slice(root.length), size: Size, changedAt: LastModified?.getTime() ?? 0 });
      return found;
    },
    async remove(keys) {
      for (let at = 0; at < keys.length; at += MAX_REMOVALS)
        await Promise.all(keys.slice(at, at + MAX_REMOVALS).map(remove));
    },
  };
}

async function importSdk() {
  try {
    return await import("@aws-sdk/client-s3");
  } catch (error) {
    throw new Error(
      "Files cannot be stored in S3, because the package @aws-sdk/client-s3 is not installed: run `npm install @aws-sdk/client-s3` beside the gateway.",
      { cause: error },
    );
  }
}
