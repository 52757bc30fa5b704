import { Migration } from '@mikro-orm/migrations'
import { columnTypes } from './column-types.ts'

/** Adds accounts at identity providers, and flows that wait for a provider. */
export class Identities20261205 extends Migration {
  override up(): void {
    const { uuid, boolean, json, datetime, text, clustered } = columnTypes(this.driver)
    this.addSql(`create table identities (
      id ${uuid} not null primary key,
      user_id ${uuid} not null,
      provider ${text(30)} not null,
      issuer ${text(255)} not null,
      subject ${text(255)} not null,
      label ${text(254)} not null,
      created_at ${datetime} not null,
      last_used_at ${datetime} null,
      constraint identities_user_id_foreign foreign key (user_id) references users (id) on delete cascade) ${clustered}`)
    this.addSql('create unique index identities_issuer_subject_unique on identities (issuer, subject)')
    this.addSql('create index identities_user_id_index on identities (user_id)')

    this.addSql(`create table provider_flows (
      digest ${text(43)} not null primary key,
      browser ${text(43)} not null,
      provider ${text(30)} not null,
      purpose ${text(10)} not null,
      next ${text(2800)} null,
      kept ${boolean} not null,
      user_id ${uuid} null,
      session ${text(43)} null,
      identity ${json} null,
      expires_at ${datetime} not null,
      created_at ${datetime} not null,
      constraint provider_flows_user_id_foreign foreign key (user_id) references users (id) on delete cascade) ${clustered}`)
    this.addSql('create index provider_flows_browser_index on provider_flows (browser)')
    this.addSql('create index provider_flows_user_id_index on provider_flows (user_id)')
    this.addSql('create index provider_flows_expires_at_index on provider_flows (expires_at)')
    this.addSql('create index provider_flows_created_at_index on provider_flows (created_at)')
    // How a sign-in that waits for a code began (RFC 8176), separated by spaces. Null for the password.
    this.addSql(`alter table pending_sign_ins add column methods ${text(100)} null`)
  }
}
