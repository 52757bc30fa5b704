import { Migration } from '@mikro-orm/migrations'

/** Adds an index for the purge of tokens whose creation time is in the future, because a clock was wrong. */
export class TokenAges20261127 extends Migration {
  override up(): void {
    this.addSql('create index user_tokens_created_at_index on user_tokens (created_at)')
  }
}
