CREATE TABLE `challenges` (
	`id` text PRIMARY KEY NOT NULL,
	`phone` text NOT NULL,
	`mac` text NOT NULL,
	`sent_by` text NOT NULL,
	`sent_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`tries_left` integer NOT NULL,
	`tried_by` text,
	`won_by` text
);
--> statement-breakpoint
CREATE INDEX `challenges_phone` ON `challenges` (`phone`);--> statement-breakpoint
CREATE INDEX `challenges_expiry` ON `challenges` (`expires_at`);