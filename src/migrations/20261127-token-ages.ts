import { Migration } from '@mikro-orm/migrations'

/** Tokens that a wrong clock made are found without reading all of them. */
export class TokenAges20261127 extends Migration {
  override up(): void {
    this.addSql('create index user_tokens_created_at_index on user_tokens (created_at)')
  }
}
