<?php
// The settings of the wiki of the tests; those of an installed program are left alone.
if ( !defined( 'MEDIAWIKI' ) ) {
	exit;
}
$wgSitename = 'Wiki of the Varrow Isles';
$wgServer = getenv( 'WIKI_SERVER' ) ?: 'http://127.0.0.1';
$wgScriptPath = '';
$wgArticlePath = '/index.php?title=$1';
$wgDBtype = 'sqlite';
$wgDBname = 'wiki';
$wgSQLiteDataDir = __DIR__ . '/data';
$wgCacheDirectory = __DIR__ . '/cache';
$wgMainCacheType = CACHE_NONE;
$wgMessageCacheType = CACHE_NONE;
$wgParserCacheType = CACHE_NONE;
$wgLanguageConverterCacheType = CACHE_NONE;
$wgSessionCacheType = CACHE_NONE;
$wgLocalisationCacheConf['store'] = 'array';
$wgJobRunRate = 0;
$wgSecretKey = 'a wiki of tests has nothing to hide';
$wgAuthenticationTokenVersion = '1';
$wgLanguageCode = 'en';
$wgLocaltimezone = 'UTC';
$wgEnableEmail = false;
$wgPingback = false;
$wgReadOnly = getenv( 'WIKI_WRITABLE' ) ? null : 'nothing is written during the tests';
$wgDefaultSkin = 'fallback';
wfLoadExtension( 'Cite', "$IP/extensions-core/Cite/extension.json" );
if ( getenv( 'WIKI_EXTRACTS' ) ) {
	wfLoadExtension( 'TextExtracts', "$IP/extensions-core/TextExtracts/extension.json" );
}
