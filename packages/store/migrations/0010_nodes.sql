CREATE TABLE `node` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text,
	`version` text NOT NULL,
	`format` integer NOT NULL,
	`labels` text NOT NULL,
	`configuration` text NOT NULL,
	`started_at` integer NOT NULL,
	`seen_at` integer NOT NULL,
	`clock_skew_ms` integer NOT NULL,
	`latency_ms` integer NOT NULL,
	`takeovers` integer DEFAULT 0 NOT NULL,
	`fenced_writes` integer DEFAULT 0 NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
ALTER TABLE `lease` ADD `acquired_at` integer DEFAULT 0 NOT NULL;