ALTER TABLE `aliases` ADD `bound_mac` text;--> statement-breakpoint
ALTER TABLE `sessions` ADD `bound_mac` text;--> statement-breakpoint
ALTER TABLE `trial_links` ADD `owner_mac` text;--> statement-breakpoint
CREATE TRIGGER `withdrawals_owned` BEFORE UPDATE OF `user_id` ON `withdrawals`
WHEN old.`user_id` IS NOT NULL AND new.`user_id` IS NOT old.`user_id` BEGIN
  SELECT raise(ABORT, 'a statement of withdrawal stays with its account');
END;
