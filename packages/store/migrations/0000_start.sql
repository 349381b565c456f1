CREATE TABLE `access_token` (
	`hash` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`role` text NOT NULL,
	`created_at` integer NOT NULL,
	`used_at` integer
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `access_token_name_unique` ON `access_token` (`name`);--> statement-breakpoint
CREATE TABLE `web_session` (
	`id` text PRIMARY KEY NOT NULL,
	`token_hash` text NOT NULL,
	`created_at` integer NOT NULL,
	`used_at` integer NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `web_session_token` ON `web_session` (`token_hash`);--> statement-breakpoint
CREATE TABLE `audit_head` (
	`one` integer PRIMARY KEY NOT NULL,
	`count` integer NOT NULL,
	`hash` text NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `audit_record` (
	`seq` integer PRIMARY KEY NOT NULL,
	`at` integer NOT NULL,
	`kind` text NOT NULL,
	`action` text NOT NULL,
	`actor` text NOT NULL,
	`subject` text NOT NULL,
	`details` text,
	`hash` text NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `approval` (
	`n` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`session_key` text NOT NULL,
	`hash` text NOT NULL,
	`question` text NOT NULL,
	`state` text NOT NULL,
	`approver` text,
	`grant` text,
	`created_at` integer NOT NULL,
	`decided_at` integer
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `approval_id_unique` ON `approval` (`id`);--> statement-breakpoint
CREATE INDEX `approval_open` ON `approval` (`session_key`) WHERE "approval"."state" in ('pending', 'allowed');--> statement-breakpoint
CREATE INDEX `approval_created` ON `approval` (`created_at`);--> statement-breakpoint
CREATE TABLE `entry` (
	`id` integer PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`session_key` text,
	`seq` integer,
	`prev` integer,
	`generation` integer,
	`run` integer,
	`at` integer NOT NULL,
	`body` text NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `group_history` (
	`n` integer PRIMARY KEY NOT NULL,
	`conversation` text NOT NULL,
	`entry_id` text NOT NULL,
	`sender_id` text NOT NULL,
	`body` text NOT NULL,
	`at` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `group_history_entry` ON `group_history` (`conversation`,`entry_id`);--> statement-breakpoint
CREATE TABLE `account` (
	`channel` text NOT NULL,
	`account` text NOT NULL,
	PRIMARY KEY(`channel`, `account`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `dedupe` (
	`key` integer PRIMARY KEY NOT NULL,
	`seq` integer NOT NULL,
	`day` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `dedupe_mark` (
	`one` integer PRIMARY KEY NOT NULL,
	`seq` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `inbox` (
	`seq` integer PRIMARY KEY NOT NULL,
	`nonce` integer NOT NULL,
	`state` text NOT NULL,
	`entry` integer NOT NULL,
	`event_key` integer NOT NULL,
	`message_key` integer,
	`session_key` text,
	`agent_id` text,
	`run` integer,
	`rule` text,
	`reason` text,
	`revision` integer DEFAULT 0 NOT NULL,
	`received_at` integer NOT NULL,
	`settled_at` integer,
	`lease_name` text DEFAULT '' NOT NULL,
	`lease_epoch` integer DEFAULT 0 NOT NULL
) STRICT;
--> statement-breakpoint
CREATE INDEX `inbox_open` ON `inbox` (`session_key`,`seq`) WHERE "inbox"."settled_at" is null;--> statement-breakpoint
CREATE TABLE `kv` (
	`namespace` text NOT NULL,
	`key` text NOT NULL,
	`value` text NOT NULL,
	`expires_at` integer,
	PRIMARY KEY(`namespace`, `key`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `lease` (
	`name` text PRIMARY KEY NOT NULL,
	`holder` text NOT NULL,
	`epoch` integer NOT NULL,
	`expires_at` integer NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `outbox` (
	`seq` integer PRIMARY KEY NOT NULL,
	`nonce` integer NOT NULL,
	`key` text NOT NULL,
	`keyed` integer NOT NULL,
	`entry` integer NOT NULL,
	`run` integer,
	`channel` text NOT NULL,
	`account` text NOT NULL,
	`address` text NOT NULL,
	`part_count` integer NOT NULL,
	`state` text NOT NULL,
	`lease_name` text,
	`lease_epoch` integer,
	`attempts` integer NOT NULL,
	`next_at` integer NOT NULL,
	`expires_at` integer,
	`receipts` text DEFAULT '[]' NOT NULL,
	`error` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`answers` text DEFAULT '[]' NOT NULL
) STRICT;
--> statement-breakpoint
CREATE INDEX `outbox_open` ON `outbox` (`channel`,`account`,`address`,`seq`) WHERE "outbox"."state" in ('pending', 'sending');--> statement-breakpoint
CREATE INDEX `outbox_ended` ON `outbox` (`seq`) WHERE "outbox"."state" in ('dead', 'uncertain', 'expired');--> statement-breakpoint
CREATE UNIQUE INDEX `outbox_key` ON `outbox` (`key`) WHERE "outbox"."keyed" = 1;--> statement-breakpoint
CREATE TABLE `pairing_peer` (
	`channel` text NOT NULL,
	`account` text NOT NULL,
	`peer_id` text NOT NULL,
	`label` text,
	`approved_at` integer NOT NULL,
	`approved_by` text NOT NULL,
	PRIMARY KEY(`channel`, `account`, `peer_id`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `pairing_request` (
	`channel` text NOT NULL,
	`account` text NOT NULL,
	`peer_id` text NOT NULL,
	`label` text,
	`code_hash` blob NOT NULL,
	`tries` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	PRIMARY KEY(`channel`, `account`, `peer_id`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `route_cache` (
	`digest` text PRIMARY KEY NOT NULL,
	`config` text NOT NULL,
	`route` text NOT NULL,
	`at` integer NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `route_cache_config` ON `route_cache` (`config`,`at`);--> statement-breakpoint
CREATE TABLE `active_run` (
	`session_key` text PRIMARY KEY NOT NULL,
	`run` integer NOT NULL,
	`last_entry` integer,
	`last_seq` integer NOT NULL,
	`message_count` integer NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `run` (
	`n` integer PRIMARY KEY NOT NULL,
	`nonce` integer NOT NULL,
	`session_key` text NOT NULL,
	`agent_id` text NOT NULL,
	`generation` integer NOT NULL,
	`state` text NOT NULL,
	`lease_name` text NOT NULL,
	`lease_epoch` integer NOT NULL,
	`attempts` integer NOT NULL,
	`meta` text,
	`error` text,
	`inbox` text NOT NULL,
	`outbox` text DEFAULT '[]' NOT NULL,
	`prev_run` integer,
	`last_entry` integer,
	`started_at` integer NOT NULL,
	`finished_at` integer,
	`model_calls` integer,
	`input_tokens` integer,
	`output_tokens` integer,
	`cache_read_tokens` integer,
	`cache_write_tokens` integer,
	`cost_micros` integer
) STRICT;
--> statement-breakpoint
CREATE TABLE `tool_call` (
	`run` integer NOT NULL,
	`n` integer NOT NULL,
	`call_id` text NOT NULL,
	`name` text NOT NULL,
	`args` text NOT NULL,
	`effects` text NOT NULL,
	`state` text NOT NULL,
	PRIMARY KEY(`run`, `n`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `session` (
	`key` text PRIMARY KEY NOT NULL,
	`agent_id` text NOT NULL,
	`channel` text NOT NULL,
	`account` text NOT NULL,
	`peer` text NOT NULL,
	`kind` text NOT NULL,
	`title` text,
	`model` text,
	`thinking` text,
	`queue_mode` text,
	`data` text,
	`generation` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`updated_minute` integer NOT NULL,
	`reset_at` integer,
	`last_entry` integer,
	`last_seq` integer DEFAULT 0 NOT NULL,
	`message_count` integer DEFAULT 0 NOT NULL,
	`floor_seq` integer DEFAULT 0 NOT NULL,
	`summary_entry` integer,
	`last_run` integer,
	`runs` integer DEFAULT 0 NOT NULL,
	`model_calls` integer DEFAULT 0 NOT NULL,
	`input_tokens` integer DEFAULT 0 NOT NULL,
	`output_tokens` integer DEFAULT 0 NOT NULL,
	`cache_read_tokens` integer DEFAULT 0 NOT NULL,
	`cache_write_tokens` integer DEFAULT 0 NOT NULL,
	`cost_micros` integer DEFAULT 0 NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `session_recent` ON `session` (`updated_minute`);--> statement-breakpoint
CREATE TABLE `trace` (
	`n` integer PRIMARY KEY NOT NULL,
	`subject` text NOT NULL,
	`entries` text NOT NULL,
	`at` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE INDEX `trace_subject` ON `trace` (`subject`);--> statement-breakpoint
CREATE TABLE `usage_day` (
	`day` text NOT NULL,
	`agent_id` text NOT NULL,
	`session_key` text NOT NULL,
	`runs` integer NOT NULL,
	`model_calls` integer NOT NULL,
	`input_tokens` integer NOT NULL,
	`output_tokens` integer NOT NULL,
	`cache_read_tokens` integer NOT NULL,
	`cache_write_tokens` integer NOT NULL,
	`cost_micros` integer NOT NULL,
	PRIMARY KEY(`day`, `agent_id`, `session_key`)
) STRICT, WITHOUT ROWID;
