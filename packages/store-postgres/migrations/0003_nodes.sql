CREATE TABLE "node" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"name" text COLLATE "C",
	"version" text COLLATE "C" NOT NULL,
	"format" bigint NOT NULL,
	"labels" json NOT NULL,
	"configuration" text COLLATE "C" NOT NULL,
	"started_at" bigint NOT NULL,
	"seen_at" bigint NOT NULL,
	"clock_skew_ms" bigint NOT NULL,
	"latency_ms" bigint NOT NULL,
	"takeovers" bigint DEFAULT 0 NOT NULL,
	"fenced_writes" bigint DEFAULT 0 NOT NULL
);
--> statement-breakpoint
ALTER TABLE "inbox" ADD COLUMN "format" bigint DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "lease" ADD COLUMN "acquired_at" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "outbox" ADD COLUMN "format" bigint DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "run" ADD COLUMN "format" bigint DEFAULT 1 NOT NULL;