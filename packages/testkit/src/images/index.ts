export {
  type FakeImageService,
  type FakeImageServiceOptions,
  startFakeImageService,
} from "./fake-image-service.ts";
