CREATE TABLE `__new_usage_day` (
	`day` text NOT NULL,
	`agent_id` text NOT NULL,
	`session_key` text NOT NULL,
	`sender` text DEFAULT '' NOT NULL,
	`runs` integer NOT NULL,
	`model_calls` integer NOT NULL,
	`input_tokens` integer NOT NULL,
	`output_tokens` integer NOT NULL,
	`cache_read_tokens` integer NOT NULL,
	`cache_write_tokens` integer NOT NULL,
	`cost_micros` integer NOT NULL,
	PRIMARY KEY(`day`, `agent_id`, `session_key`, `sender`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
INSERT INTO `__new_usage_day`("day", "agent_id", "session_key", "sender", "runs", "model_calls", "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "cost_micros") SELECT "day", "agent_id", "session_key", '', "runs", "model_calls", "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "cost_micros" FROM `usage_day`;--> statement-breakpoint
DROP TABLE `usage_day`;--> statement-breakpoint
ALTER TABLE `__new_usage_day` RENAME TO `usage_day`;--> statement-breakpoint
ALTER TABLE `run` ADD `sender` text DEFAULT '' NOT NULL;