CREATE TABLE `customers` (
	`user_id` text PRIMARY KEY NOT NULL,
	`stripe_id` text,
	`dirty` integer DEFAULT 0 NOT NULL,
	`synced` integer DEFAULT 0 NOT NULL,
	`synced_at` integer DEFAULT 0 NOT NULL,
	`lease_token` text,
	`lease_until` integer DEFAULT 0 NOT NULL,
	`setup_session` text,
	`had_subscription` integer DEFAULT false NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `customers_stripe_id_unique` ON `customers` (`stripe_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `customers_lease_token_unique` ON `customers` (`lease_token`);--> statement-breakpoint
CREATE INDEX `customers_dirty` ON `customers` (`user_id`) WHERE dirty > synced;--> statement-breakpoint
CREATE INDEX `customers_age` ON `customers` (`synced_at`);--> statement-breakpoint
CREATE TABLE `stripe_events` (
	`id` text PRIMARY KEY NOT NULL,
	`type` text NOT NULL,
	`by` text NOT NULL,
	`at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `stripe_events_age` ON `stripe_events` (`at`);--> statement-breakpoint
ALTER TABLE `users` ADD `tier_waits` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `users` ADD `billing_watch_until` integer;--> statement-breakpoint
CREATE INDEX `users_billing_watch` ON `users` (`billing_watch_until`);