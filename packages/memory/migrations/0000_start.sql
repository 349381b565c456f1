CREATE TABLE `census` (
	`source` text NOT NULL,
	`scope` text NOT NULL,
	`author_id` text NOT NULL,
	`chunks` integer NOT NULL,
	`length` integer NOT NULL,
	PRIMARY KEY(`source`, `scope`, `author_id`)
) STRICT;
--> statement-breakpoint
CREATE TABLE `chunk` (
	`n` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`source` text NOT NULL,
	`whole` text NOT NULL,
	`position` integer NOT NULL,
	`text` text NOT NULL,
	`hash` text NOT NULL,
	`length` integer NOT NULL,
	`at` integer,
	`scope` text NOT NULL,
	`author_id` text,
	`author_name` text,
	`chat` text,
	`message` text,
	`untrusted` text,
	`path` text,
	`headings` text,
	`first_line` integer,
	`last_line` integer
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `chunk_id_unique` ON `chunk` (`id`);--> statement-breakpoint
CREATE INDEX `chunk_in_whole` ON `chunk` (`whole`,`position`);--> statement-breakpoint
CREATE TABLE `file` (
	`path` text PRIMARY KEY NOT NULL,
	`size` integer NOT NULL,
	`changed_at` integer NOT NULL,
	`hash` text NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `state` (
	`name` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `vector` (
	`hash` text NOT NULL,
	`model` text NOT NULL,
	`values` blob NOT NULL,
	PRIMARY KEY(`hash`, `model`)
) STRICT;
