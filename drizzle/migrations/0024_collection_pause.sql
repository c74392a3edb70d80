ALTER TABLE `users` ADD `collection_pause` text;--> statement-breakpoint
ALTER TABLE `users` ADD `resumes_at` integer;