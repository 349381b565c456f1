import { z } from "zod";

const s3Schema = z
  .strictObject({
    bucket: z.string().min(1).describe("The bucket."),
    region: z.string().min(1).optional().describe("The region. By default, that of the environment."),
    endpoint: z
      .url({ protocol: /^https?$/ })
      .optional()
      .describe("The URL of another S3-compatible service. By default, Amazon S3."),
    pathStyle: z
      .boolean()
      .default(false)
      .describe("Whether the bucket is part of the path and not of the host name, as MinIO expects it."),
    prefix: z
      .string()
      .regex(/^[\w./-]*$/, "must consist of letters, digits, dots, dashes, underscores and slashes")
      .default("")
      .describe("The beginning of all keys, for example `signalbox/`."),
    accessKeyId: z
      .string()
      .min(1)
      .optional()
      .describe("The id of the access key. By default, the credentials of the environment."),
    secretAccessKey: z.string().min(1).optional().describe("The secret of the access key."),
  })
  .refine((s3) => (s3.accessKeyId === undefined) === (s3.secretAccessKey === undefined), {
    message: "needs both accessKeyId and secretAccessKey, or neither",
  });

export const storeSchema = z
  .strictObject({
    url: z
      .string()
      .regex(/^postgres(ql)?:\/\/\S+$/, "must begin with postgres://")
      .optional()
      .describe(
        "The PostgreSQL database, as `postgres://user:password@host:5432/name`. By default, the state is in the SQLite file `signalbox.db` in the home.",
      ),
    hints: z
      .boolean()
      .default(true)
      .describe(
        "Whether gateways wake each other with `LISTEN` and `NOTIFY`, which need a direct connection. With `false`, for example behind PgBouncer in transaction mode, they look for work every second.",
      ),
    blobs: z
      .strictObject({
        s3: s3Schema.describe(
          "A bucket of Amazon S3 or of a compatible service. Requires the package `@aws-sdk/client-s3`.",
        ),
      })
      .optional()
      .describe(
        "The place of files that gateways share: attachments until they are sent, and files of clients. By default, the PostgreSQL database.",
      ),
  })
  .refine(({ url, blobs }) => blobs === undefined || url !== undefined, {
    path: ["blobs"],
    message: "needs `store.url`: with an SQLite file, files are in the home",
  })
  .describe("The database of the gateway. The gateway does not start if this section has an error.");
