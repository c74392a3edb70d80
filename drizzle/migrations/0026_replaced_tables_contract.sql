DROP TRIGGER `users_insert_aliases`;--> statement-breakpoint
DROP TRIGGER `users_phone_aliases`;--> statement-breakpoint
DROP TRIGGER `users_whatsapp_aliases`;--> statement-breakpoint
DROP TRIGGER `users_delete_aliases`;--> statement-breakpoint
DROP TRIGGER `identities_insert_aliases`;--> statement-breakpoint
DROP TRIGGER `identities_update_aliases`;--> statement-breakpoint
DROP TRIGGER `identities_delete_aliases`;--> statement-breakpoint
DROP TRIGGER `aliases_insert_identities`;--> statement-breakpoint
DROP TRIGGER `aliases_update_identities`;--> statement-breakpoint
DROP TRIGGER `aliases_delete_identities`;--> statement-breakpoint
DROP TABLE `burnt_tokens`;--> statement-breakpoint
DROP TABLE `hits`;--> statement-breakpoint
DROP TABLE `identities`;--> statement-breakpoint
DROP TABLE `spent_trials`;--> statement-breakpoint
ALTER TABLE `users` DROP COLUMN `whatsapp_id`;--> statement-breakpoint
ALTER TABLE `users` DROP COLUMN `crisis_until`;