import { reasonOf } from "@signalbox/agent-core";
import { openS3Objects } from "@signalbox/attachments";
import type { StoreConfig } from "@signalbox/config";
import type { ObjectStore } from "@signalbox/store";
import type { Logger } from "@signalbox/telemetry/logger";
import type { GatewayStore } from "../store.ts";

/** A prefix without objects, to try the storage with. */
const TRIAL_PREFIX = "trial/";

/**
 * Opens the storage for files that gateways share, if the store is shared.
 *
 * @throws Error if the storage of the configuration needs a package that is not installed
 */
export async function openObjects(
  { objects }: Pick<GatewayStore, "objects">,
  { blobs }: Pick<StoreConfig, "blobs">,
  logger: Pick<Logger, "error">,
): Promise<ObjectStore | undefined> {
  if (objects === undefined || blobs === undefined) return objects;
  const { bucket, region, endpoint, pathStyle, prefix, accessKeyId, secretAccessKey } = blobs.s3;
  const hasKey = accessKeyId !== undefined && secretAccessKey !== undefined;
  const s3 = await openS3Objects({
    bucket,
    pathStyle,
    prefix,
    ...(region === undefined ? {} : { region }),
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(hasKey ? { credentials: { accessKeyId, secretAccessKey } } : {}),
  });
  // The gateway can answer most messages without files.
  s3.list(TRIAL_PREFIX).catch((error: unknown) =>
    logger.error(
      { bucket, err: reasonOf(error), remedy: "check `store.blobs.s3`, its keys and the service" },
      "files cannot be stored or read at the moment",
    ),
  );
  return s3;
}
