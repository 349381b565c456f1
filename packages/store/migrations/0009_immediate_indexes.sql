INSERT OR REPLACE INTO `dedupe` (`key`, `seq`, `day`)
	SELECT `event_key`, `seq`, `received_at` / 86400000 FROM `inbox`
	WHERE `seq` > (SELECT coalesce(max(`seq`), 0) FROM `dedupe_mark`);--> statement-breakpoint
INSERT OR REPLACE INTO `dedupe` (`key`, `seq`, `day`)
	SELECT `message_key`, `seq`, `received_at` / 86400000 FROM `inbox`
	WHERE `message_key` IS NOT NULL AND `seq` > (SELECT coalesce(max(`seq`), 0) FROM `dedupe_mark`);--> statement-breakpoint
DROP TABLE `dedupe_mark`;--> statement-breakpoint
ALTER TABLE `inbox` DROP COLUMN `event_key`;--> statement-breakpoint
ALTER TABLE `inbox` DROP COLUMN `message_key`;--> statement-breakpoint
INSERT INTO `usage_day` (`day`, `agent_id`, `session_key`, `sender`, `runs`, `model_calls`, `input_tokens`, `output_tokens`, `cache_read_tokens`, `cache_write_tokens`, `cost_micros`)
	SELECT date(`finished_at` / 1000, 'unixepoch'), `agent_id`, `session_key`, `sender`, count(*), coalesce(sum(`model_calls`), 0), coalesce(sum(`input_tokens`), 0), coalesce(sum(`output_tokens`), 0), coalesce(sum(`cache_read_tokens`), 0), coalesce(sum(`cache_write_tokens`), 0), coalesce(sum(`cost_micros`), 0)
	FROM `run`
	WHERE `finished_at` IS NOT NULL AND (
		`n` > (SELECT coalesce(max(`run`), 0) FROM `usage_mark`)
		OR `n` IN (SELECT `going`.`value` FROM `usage_mark`, json_each(CASE WHEN json_valid(`usage_mark`.`open`) THEN `usage_mark`.`open` END) AS `going`))
	GROUP BY 1, 2, 3, 4
	ON CONFLICT (`day`, `agent_id`, `session_key`, `sender`) DO UPDATE SET
		`runs` = `runs` + excluded.`runs`,
		`model_calls` = `model_calls` + excluded.`model_calls`,
		`input_tokens` = `input_tokens` + excluded.`input_tokens`,
		`output_tokens` = `output_tokens` + excluded.`output_tokens`,
		`cache_read_tokens` = `cache_read_tokens` + excluded.`cache_read_tokens`,
		`cache_write_tokens` = `cache_write_tokens` + excluded.`cache_write_tokens`,
		`cost_micros` = `cost_micros` + excluded.`cost_micros`;--> statement-breakpoint
DROP TABLE `usage_mark`;
