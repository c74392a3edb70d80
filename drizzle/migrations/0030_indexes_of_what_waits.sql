CREATE INDEX `identity_conflicts_last` ON `identity_conflicts` (`last_at`);--> statement-breakpoint
CREATE INDEX `withdrawals_state` ON `withdrawals` (`state`,`submitted_at`);