INSERT INTO `rate_limit_events` (`subject`, `at`, `by`) SELECT `subject`, `at`, `by` FROM `hits` ORDER BY rowid;--> statement-breakpoint
INSERT INTO `used_tokens` (`id`, `by`, `expires_at`) SELECT `id`, `by`, `expires_at` FROM `burnt_tokens`;--> statement-breakpoint
INSERT INTO `used_trials` (`phone_mac`, `at`) SELECT `phone_mac`, `at` FROM `spent_trials`;
