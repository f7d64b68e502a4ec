"""The words that hold the sentences of a language together, written as running text."""

FUNCTION_WORDS = {
    "en": """the and of to is that for with are this it you was be from by not have or we can will
        your has but they which when if its at there what how more than our were been their would
        should could he she his him them us my these those who where why all any some an as on in a
        do does did had about into because only also i me so no just very then here get please
        before after while each most must may being between through out up other don't it's""",
    "de": """der die das und ist nicht ein eine einen einem einer eines den dem des von mit für auf
        im in zu zum zur sich auch werden wird als aber oder wenn dass ich du er sie es wir ihr bei
        nach aus über unter durch wie wo was warum weil bis vom beim am an um bin bist sind war hat
        haben hatte kann können muss müssen mir mich dir dich uns euch ihre mein meine dein sein
        seine kein keine nur noch schon sehr so man dieser diese dieses alle mehr hier dann""",
    "fr": """le la les un une des du de et est en dans que qui pour pas avec sur au aux ce cette ces
        il elle ils elles nous vous je tu on se ne plus par sont été être avoir ont a à son sa ses
        leur leurs mais ou où si comme tout tous toute bien très fait peut même aussi sans donc mon
        ma mes ton notre nos votre vos d'un d'une c'est n'est qu'il j'ai l'on quand deux y entre""",
    "es": """el la los las un una unos unas de del que y en a es por para con no se su sus lo como
        más pero al está están fue son ser hay este esta estos estas esto eso ese cuando donde qué
        porque si sin sobre hasta desde entre también muy ya me te nos le les mi tu yo él ella ellos
        nuestro nuestra todo todos todas puede han ha he era o ni cada otro otra tiene""",
    "it": """il lo la i gli le un uno una di del della dello dei degli delle da dal dalla in nel
        nella nei con su sul sulla per tra che non è e sono si anche come più ma questo questa
        questi perché quando dove molto ho hai ha abbiamo hanno essere stato stata fatto alla alle
        al ai cui suo sua loro mi ti ci noi lui lei io se o chi ogni tutti tutto ancora già""",
    "pt": """o a os as um uma uns umas de do da dos das em no na nos nas por pelo pela para com que
        não é e se mais mas como ao aos à às seu sua seus suas ele ela eles você nós eu isso isto
        este esta foi são está estão ser ter tem tinha quando onde também muito já ou nem até sem
        sobre entre porque há me te lhe nosso nossa todos todo pode ainda""",
    "nl": """de het een en van in is dat op te niet voor met zijn aan er ook als door maar om bij
        uit nog naar wordt worden werd heeft hebben had was ik je jij hij zij ze we wij u dit deze
        die dan wat wie waar hoe of over tot geen meer veel kan kunnen moet moeten zal zou wel hun
        onze mijn zich omdat daar hier al tegen onder na zo alle andere toen""",
    "sv": """och att det som en är på av för med den till inte har de ett om han hon jag vi var du
        men sig från så kan när nu ska eller hade efter vid också över bara denna detta mycket alla
        vara blev sin utan där här hur vad mig dig oss ni man än mot andra skulle""",
    "da": """og at det som en er på af for med den til ikke har de et om han hun jeg vi var du men
        sig fra så kan når nu skal eller havde efter ved også over kun denne dette meget alle være
        blev sin uden hvor her hvordan hvad mig dig os man end mod andre skulle blive bliver hvis
        noget af nogle""",
    "no": """og at det som en er på av for med den til ikke har de et om han hun jeg vi var du men
        seg fra så kan når nå skal eller hadde etter ved også over bare denne dette mye alle være
        ble sin uten hvor her hvordan hva meg deg oss man enn mot andre skulle bli blir hvis noe
        noen etter mellom""",
    "fi": """ja on ei se että hän oli ovat joka mutta niin kun myös tai kuin sen mitä ne ole olen
        ollut tämä tässä vain jos hänen minä sinä me te he jo nyt kanssa sitä olla voi mukaan jotka
        vielä hyvin sekä ennen koska siitä tämän eivät""",
    "pl": """nie się jest że oraz na z w do dla jak ale czy są był była było być to ten ta tego tym
        przez przy od po za o i a co który która które jego jej ich mi mnie może tylko już tak gdy
        jeśli bardzo także jako ze lub ma mają też przed bo tu tej""",
    "cs": """a je se na v že to s z do o i k za pro jako ale by byl byla bylo jsou být jsem jsme
        který která které ve po od při nebo není si tak už jeho jen také když co jak ze aby až více
        může jejich mezi podle této""",
    "ro": """și de la în cu nu este pe un o din că a fost sunt care mai pentru ce se au sau dar după
        prin ca fi lui ei acest această acesta ale am ai avea fără când unde cum foarte toate tot
        noi voi el ea îl îi le""",
    "tr": """ve bir bu da de için ile çok ne o ben sen biz siz onlar daha gibi ama kadar olarak var
        yok mı mi mu mü değil ki olan her şey en sonra önce ise veya diye bana sana nasıl neden
        olduğu olduğunu""",
}  # fmt: skip
"""By ISO 639-1 code. A word of several languages is in the list of each."""
