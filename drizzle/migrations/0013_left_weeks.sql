CREATE TABLE `left_weeks` (
	`phone_mac` text PRIMARY KEY NOT NULL,
	`used` integer NOT NULL,
	`ends_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `left_weeks_end` ON `left_weeks` (`ends_at`);