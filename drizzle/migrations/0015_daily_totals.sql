CREATE TABLE `daily_totals` (
	`day` integer NOT NULL,
	`kind` text NOT NULL,
	`detail` text DEFAULT '' NOT NULL,
	`n` integer NOT NULL,
	PRIMARY KEY(`kind`, `day`, `detail`)
);
