CREATE TABLE `chat_erasures` (
	`user_id` text PRIMARY KEY NOT NULL,
	`epoch` integer,
	`created_at` integer NOT NULL,
	`due_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `chat_erasures_due` ON `chat_erasures` (`due_at`);--> statement-breakpoint
ALTER TABLE `outbox` ADD `message_id` text;--> statement-breakpoint
ALTER TABLE `outbox` ADD `created_at` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `outbox` ADD `parked_at` integer;--> statement-breakpoint
CREATE INDEX `outbox_parked` ON `outbox` (`parked_at`) WHERE parked_at is not null;--> statement-breakpoint
ALTER TABLE `users` ADD `chat_key` text;--> statement-breakpoint
ALTER TABLE `users` ADD `chat_key_id` text;--> statement-breakpoint
ALTER TABLE `users` ADD `chat_epoch` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `users` ADD `chat_consent_version` text;--> statement-breakpoint
ALTER TABLE `users` ADD `chat_consent_at` integer;--> statement-breakpoint
ALTER TABLE `users` ADD `crisis_until` integer;--> statement-breakpoint
CREATE INDEX `users_chat_key_id` ON `users` (`chat_key_id`) WHERE chat_key_id is not null;